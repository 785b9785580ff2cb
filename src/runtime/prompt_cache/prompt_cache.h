// Saved sequence states by the token ids that led to them, in memory and on disk. A prompt resumes
// from the longest state that its ids begin with; the reply has the bits of a cold run, because a
// state is exactly what a cold run has there.
//
// One engine thread uses a cache; writing to disk is another thread's work and never waited for.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "model/sequence_state.h"
#include "runtime/prompt_cache/cache_disk.h"
#include "runtime/prompt_cache/memory_ledger.h"
#include "runtime/prompt_cache/prefix_tree.h"
#include "runtime/prompt_cache/save_points.h"

namespace lockstep {

struct PromptCacheOptions {
  uint64_t memory_bytes = 0;      // states in memory, pages that several share counted once
  int64_t min_tokens = 32;        // shorter states are not saved
  int64_t index_ids = 4'000'000;  // ids remembered of what was saved once, 4 bytes each
  std::optional<CacheDiskOptions> disk = std::nullopt;
};

// Why a prompt is not resumed further than it is.
enum class MissReason : uint8_t {
  kNone,            // it is: one row is left
  kBelowMinimum,    // the prompt is shorter than any saved state
  kEmpty,           // nothing is saved
  kOtherSalt,       // nothing is saved under this salt, something is under others
  kOtherPrecision,  // nothing is saved for this checkpoint and precision tuple, on disk for others
  kDamaged,         // a longer state's file was refused
  kNoMemory,        // there was no memory to read a longer state into
  kEvicted,         // a longer state was given up for others
  kDiverged,        // saved prompts go on by other ids
  kNoRowLeft,       // the state at the prompt's end leaves no row to run, and none stands before
  kNoSavePoint,     // a saved prompt goes on just so, but has no state there
  kNewText,         // the ids so far are all that was saved
};
inline constexpr size_t kMissReasons = static_cast<size_t>(MissReason::kNewText) + 1;

const char* to_string(MissReason reason);

struct CacheLookup {
  std::shared_ptr<const SequenceState> state;  // to copy and run on; null: nothing is saved
  int64_t length = 0;                          // ids that it stands after
  bool from_disk = false;
  SaveKind kind = SaveKind::kInterval;  // of the state
  MissReason reason = MissReason::kNone;
  int64_t matched = 0;  // ids that some saved prompt begins with too, at least `length`
  // Where saved prompts go on otherwise, beyond `length`: worth a state (plan_save_points).
  std::optional<int64_t> parted;

  // A sentence for the log: what was resumed, and why not more.
  std::string describe(int64_t prompt_length) const;
};

struct PromptCacheCounts {
  std::array<int64_t, kMissReasons> lookups = {};  // by the reason of each
  int64_t hits = 0;                                // lookups that found a state
  int64_t resumed_ids = 0;                         // by hits, in all
  int64_t saved = 0;
  int64_t evicted = 0;
  int64_t too_large = 0;  // states that exceed the budget by themselves
  int64_t states = 0;     // in memory now
  uint64_t bytes = 0;     // of these
  CacheDiskCounts disk;
};

class PromptCache {
 public:
  // `new_state` makes the empty states that files are read into (a page pool may stand behind it).
  // Without a disk it cannot fail.
  static Result<std::unique_ptr<PromptCache>> open(const PromptCacheOptions& options,
                                                   const std::function<SequenceState()>& new_state);

  // States in memory that are not on disk are written first, the latest used ones if not all fit.
  ~PromptCache();

  // The longest state of this salt that leaves at least one of the prompt's rows to run. A salt is
  // up to 256 opaque bytes (a digest of the API key, not the key: it is stored on disk).
  CacheLookup find(std::span<const int32_t> prompt, std::string_view salt);

  // Whether save() would keep a state after these ids: asks before a snapshot is made.
  bool wants(std::span<const int32_t> ids, std::string_view salt) const;

  // Keeps a state that stands after `ids`, and gives up others where the budget asks for it.
  void save(std::span<const int32_t> ids, std::string_view salt, SaveKind kind,
            SequenceState state);

  // Gives up the state that is worth least: for an engine that needs the pages. False: there is
  // none.
  bool release_one();

  // Waits until the disk has what was given to it, and knows of what other processes gave it.
  void flush();

  PromptCacheCounts counts() const;

 private:
  using Value = PrefixTree::Value;
  struct Entry {
    Value value = 0;                    // key of entries_
    const std::string* salt = nullptr;  // key of trees_
    PrefixTree::Node* node = nullptr;
    int64_t length = 0;
    SaveKind kind = SaveKind::kInterval;
    uint64_t last_use = 0;
    std::shared_ptr<const SequenceState> state;  // null: not in memory
    std::string file;                            // empty: not on disk
    bool damaged = false;                        // its file was refused
  };
  using Trees = std::map<std::string, PrefixTree, std::less<>>;

  PromptCache(const PromptCacheOptions& options, std::function<SequenceState()> new_state);

  Entry& entry_at(std::span<const int32_t> ids, std::string_view salt);
  Value value_at(std::span<const int32_t> ids, std::string_view salt) const;
  CacheLookup look_up(const PrefixTree::Match& match, std::span<const int32_t> prompt);
  Result<std::shared_ptr<const SequenceState>> state_of(Entry& entry, std::span<const int32_t> ids);
  void keep(Entry& entry, std::shared_ptr<const SequenceState> state);
  void drop_state(Entry& entry, bool to_disk);
  void write(const Entry& entry, std::shared_ptr<const SequenceState> state, bool wait);
  Entry* least_valuable(const Entry* spared);
  void lose_file(Entry& entry);
  void forget_oldest_ids();
  int64_t forget(Value value);
  void read_news();
  MissReason reason_of(const PrefixTree::Match& match, int64_t prompt_length, std::string_view salt,
                       int64_t resumed) const;

  PromptCacheOptions options_;
  std::function<SequenceState()> new_state_;
  Trees trees_;
  std::unordered_map<Value, Entry> entries_;
  std::unordered_map<std::string, Value> files_;
  MemoryLedger ledger_;
  std::unique_ptr<CacheDisk> disk_;
  Value last_value_ = 0;
  uint64_t clock_ = 0;
  PromptCacheCounts counts_;
};

}  // namespace lockstep
