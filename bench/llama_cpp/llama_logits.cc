// The same ids as lockstep_logits.cc through libllama, with a float32 cache and no flash attention:
//   llama_logits MODEL COUNT OUT
// Not part of the build: python/compare_llama_cpp.py compiles it against a build of llama.cpp.
#include <llama.h>

#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int count = std::stoi(argv[2]);
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level >= GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
      },
      nullptr);
  llama_backend_init();
  llama_model_params model_params = llama_model_default_params();
  model_params.n_gpu_layers = 0;
  llama_model* model = llama_model_load_from_file(argv[1], model_params);
  if (model == nullptr) return 1;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 512;
  params.n_batch = params.n_ubatch = 512;
  params.n_threads = params.n_threads_batch = 2;
  params.type_k = params.type_v = GGML_TYPE_F32;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) return 1;
  const int vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
  llama_batch batch = llama_batch_init(count, 0, 1);
  for (int i = 0; i < count; ++i) {
    batch.token[i] = (1 + 7 * i) % vocab;
    batch.pos[i] = i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  batch.n_tokens = count;
  if (llama_decode(context, batch) != 0) return 1;
  std::ofstream file(argv[3], std::ios::binary);
  for (int i = 0; i < count; ++i) {
    file.write(reinterpret_cast<const char*>(llama_get_logits_ith(context, i)),
               static_cast<std::streamsize>(vocab * sizeof(float)));
  }
  return file.good() ? 0 : 1;
}
