#include "model/sequence_state_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/check.h"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, "stored states are little-endian");

constexpr std::array<char, 4> kMagic = {'L', 'S', 'S', 'T'};
constexpr uint32_t kVersion = 1;
// More than any context: what is computed from a stored position stays far from overflow.
constexpr int64_t kMaxPosition = int64_t{1} << 32;

struct Header {
  std::array<char, 4> magic = kMagic;
  uint32_t version = kVersion;
  int64_t delta_layers = 0;
  int64_t attention_layers = 0;
  int64_t conv_floats = 0;
  int64_t delta_floats = 0;
  int64_t kv_type = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t position = 0;
};
static_assert(sizeof(Header) == 72, "no padding");

Header header_of(const StateShape& shape, int64_t position) {
  Header header;
  header.delta_layers = shape.delta_layers;
  header.attention_layers = shape.attention_layers;
  header.conv_floats = shape.conv_floats;
  header.delta_floats = shape.delta_floats;
  header.kv_type = static_cast<int64_t>(shape.kv.type);
  header.kv_heads = shape.kv.kv_heads;
  header.head_dim = shape.kv.head_dim;
  header.position = position;
  return header;
}

size_t row_bytes(const StateShape& shape) {
  return static_cast<size_t>(shape.kv.head_dim) * shape.kv.element_bytes();
}

// Calls visit(pointer, bytes) for every stretch of committed keys and values, in the order of the
// layout.
template <typename Visit>
void for_each_stretch(const SequenceState& state, int64_t position, const Visit& visit) {
  const StateShape& shape = state.shape();
  const size_t row = row_bytes(shape);
  for (int64_t first = 0; first < position; first += kKvBlock) {
    const auto rows = static_cast<size_t>(std::min(kKvBlock, position - first));
    for (int64_t layer = 0; layer < shape.attention_layers; ++layer) {
      std::byte* block = state.blocks(layer)[first / kKvBlock];
      for (int64_t head = 0; head < 2 * shape.kv.kv_heads; ++head) {
        visit(block + static_cast<size_t>(head * kKvBlock) * row, rows * row);
      }
    }
  }
}

Error bad(std::string message) { return {ErrorCode::kBadFile, std::move(message)}; }

Status check_header(std::span<const std::byte> bytes, const StateShape& shape, int64_t& position) {
  Header header;
  if (bytes.size() < sizeof(header)) {
    return bad(fmt::format("a stored state of {} bytes has no header", bytes.size()));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic) return bad("these bytes are no stored state");
  position = header.position;
  if (position < 0 || position > kMaxPosition) {
    return bad(fmt::format("a stored state stands at position {}", position));
  }
  const Header expected = header_of(shape, position);
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) {
    return Error{ErrorCode::kUnsupported, "a stored state of another model, version or cache type"};
  }
  const uint64_t wanted = stored_bytes(shape, position);
  if (bytes.size() == wanted) return {};
  return bad(fmt::format("a stored state at position {} has {} bytes; it must have {}", position,
                         bytes.size(), wanted));
}

// The bits of a value without its sign, `mask` those of the exponent: all set, it is not finite.
template <typename Bits>
bool all_finite(std::span<const std::byte> bytes, Bits mask) {
  bool finite = true;
  for (size_t at = 0; at < bytes.size(); at += sizeof(Bits)) {
    Bits value;
    std::memcpy(&value, bytes.data() + at, sizeof(Bits));
    finite &= (value & mask) != mask;
  }
  return finite;
}

Status check_values(std::span<const std::byte> recurrent, std::span<const std::byte> kv,
                    KvType type) {
  const bool finite = all_finite<uint32_t>(recurrent, 0x7f800000u) &&
                      (type == KvType::kBf16 ? all_finite<uint16_t>(kv, 0x7f80)
                                             : all_finite<uint32_t>(kv, 0x7f800000u));
  if (finite) return {};
  return bad("a stored state holds a value that is not finite");
}

size_t layer_bytes(const StateShape& shape) {
  return static_cast<size_t>(shape.conv_floats + shape.delta_floats) * sizeof(float);
}

}  // namespace

uint64_t stored_bytes(const StateShape& shape, int64_t position) {
  const uint64_t heads = 2 * static_cast<uint64_t>(shape.attention_layers * shape.kv.kv_heads);
  return sizeof(Header) + shape.recurrent_floats() * sizeof(float) +
         static_cast<uint64_t>(position) * heads * row_bytes(shape);
}

void store_state(const SequenceState& state,
                 const std::function<void(std::span<const std::byte>)>& sink) {
  const StateShape& shape = state.shape();
  const Header header = header_of(shape, state.position());
  sink(std::as_bytes(std::span(&header, 1)));
  for (int64_t layer = 0; layer < shape.delta_layers; ++layer) {
    sink(std::as_bytes(std::span(state.conv_in(layer), layer_bytes(shape) / sizeof(float))));
  }
  for_each_stretch(state, state.position(),
                   [&](const std::byte* data, size_t size) { sink({data, size}); });
}

Status read_state(std::span<const std::byte> bytes, SequenceState& state) {
  LOCKSTEP_CHECK(state.position() == 0, "a stored state is read into a fresh one");
  const StateShape& shape = state.shape();
  int64_t position = 0;
  LOCKSTEP_RETURN_IF_ERROR(check_header(bytes, shape, position));
  std::span<const std::byte> rest = bytes.subspan(sizeof(Header));
  const auto recurrent = rest.first(shape.recurrent_floats() * sizeof(float));
  rest = rest.subspan(recurrent.size());
  LOCKSTEP_RETURN_IF_ERROR(check_values(recurrent, rest, shape.kv.type));
  if (position == 0)
    return {};  // nothing was committed: what recurrent state there is says nothing
  LOCKSTEP_RETURN_IF_ERROR(state.begin_round(position));
  for (int64_t layer = 0; layer < shape.delta_layers; ++layer) {
    std::memcpy(state.conv_out(layer),
                recurrent.data() + static_cast<size_t>(layer) * layer_bytes(shape),
                layer_bytes(shape));
  }
  for_each_stretch(state, position, [&](std::byte* data, size_t size) {
    std::memcpy(data, rest.data(), size);
    rest = rest.subspan(size);
  });
  state.commit(position);
  return {};
}

}  // namespace lockstep
