#include "runtime/prompt_cache/prompt_cache.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/check.h"

namespace lockstep {

Result<std::unique_ptr<PromptCache>> PromptCache::open(
    const PromptCacheOptions& options, const std::function<SequenceState()>& new_state) {
  std::unique_ptr<PromptCache> cache(new PromptCache(options, new_state));
  if (options.disk) {
    LOCKSTEP_ASSIGN_OR_RETURN(cache->disk_, CacheDisk::open(*options.disk, new_state().shape()));
    cache->read_news();
  }
  return cache;
}

PromptCache::PromptCache(const PromptCacheOptions& options,
                         std::function<SequenceState()> new_state)
    : options_(options), new_state_(std::move(new_state)) {}

PromptCache::~PromptCache() {
  if (!disk_) return;
  read_news();
  std::vector<const Entry*> left;
  for (const auto& [value, entry] : entries_) {
    if (entry.state && entry.file.empty()) left.push_back(&entry);
  }
  std::ranges::sort(left, std::greater<>(), &Entry::last_use);
  uint64_t bytes = 0;
  const auto beyond = std::ranges::find_if(left, [&](const Entry* entry) {
    bytes += MemoryLedger::bytes_of(*entry->state);
    return bytes > options_.disk->bytes;
  });
  // What was used last is written last, and so is the last to be deleted for the budget.
  std::for_each(std::make_reverse_iterator(beyond), left.rend(),
                [&](const Entry* entry) { write(*entry, entry->state, true); });
}

CacheLookup PromptCache::find(std::span<const int32_t> prompt, std::string_view salt) {
  read_news();
  ++clock_;
  PrefixTree::Match match;
  const auto tree = trees_.find(salt);
  if (tree != trees_.end()) match = tree->second.match(prompt);
  CacheLookup lookup = look_up(match, prompt);
  const auto length = static_cast<int64_t>(prompt.size());
  lookup.matched = match.matched;
  const bool parts = match.other_follows && match.matched < length;
  if (parts && match.matched > lookup.length) lookup.parted = match.matched;
  if (lookup.reason == MissReason::kNone) {
    lookup.reason = reason_of(match, length, salt, lookup.length);
  }
  ++counts_.lookups[static_cast<size_t>(lookup.reason)];
  counts_.hits += lookup.state != nullptr;
  counts_.resumed_ids += lookup.length;
  return lookup;
}

// The longest state of the path that leaves a row; a reason where a longer one failed to be read.
CacheLookup PromptCache::look_up(const PrefixTree::Match& match, std::span<const int32_t> prompt) {
  CacheLookup lookup;
  const auto length = static_cast<int64_t>(prompt.size());
  for (auto at = match.values.rbegin(); at != match.values.rend(); ++at) {
    if (at->length >= length) continue;
    Entry& entry = entries_.at(at->value);
    const bool in_memory = entry.state != nullptr;
    if (!in_memory && entry.file.empty()) continue;
    auto state = state_of(entry, prompt.first(static_cast<size_t>(at->length)));
    if (!state.ok()) {
      if (state.error().code == ErrorCode::kOutOfMemory) lookup.reason = MissReason::kNoMemory;
      continue;
    }
    entry.last_use = clock_;
    if (!entry.file.empty()) disk_->touch(entry.file);
    lookup.state = std::move(state).value();
    lookup.length = entry.length;
    lookup.kind = entry.kind;
    lookup.from_disk = !in_memory;
    break;
  }
  return lookup;
}

MissReason PromptCache::reason_of(const PrefixTree::Match& match, int64_t prompt_length,
                                  std::string_view salt, int64_t resumed) const {
  if (resumed == prompt_length - 1) return MissReason::kNone;
  if (prompt_length <= options_.min_tokens) return MissReason::kBelowMinimum;
  if (trees_.empty()) {
    return disk_ && disk_->others() ? MissReason::kOtherPrecision : MissReason::kEmpty;
  }
  if (!trees_.contains(salt)) return MissReason::kOtherSalt;
  bool evicted = false;
  for (const PrefixTree::Found& found : match.values) {
    if (found.length <= resumed || found.length >= prompt_length) continue;
    const Entry& entry = entries_.at(found.value);
    if (entry.damaged) return MissReason::kDamaged;
    evicted |= !entry.state && entry.file.empty();
  }
  if (evicted) return MissReason::kEvicted;
  if (match.matched < prompt_length) {
    return match.other_follows ? MissReason::kDiverged : MissReason::kNewText;
  }
  const bool at_end = !match.values.empty() && match.values.back().length == prompt_length;
  return at_end ? MissReason::kNoRowLeft : MissReason::kNoSavePoint;
}

bool PromptCache::wants(std::span<const int32_t> ids, std::string_view salt) const {
  if (static_cast<int64_t>(ids.size()) < std::max<int64_t>(1, options_.min_tokens)) return false;
  if (options_.memory_bytes == 0) return false;
  const Value value = value_at(ids, salt);
  return value == 0 || !entries_.at(value).state;
}

void PromptCache::save(std::span<const int32_t> ids, std::string_view salt, SaveKind kind,
                       SequenceState state) {
  LOCKSTEP_CHECK(state.position() == static_cast<int64_t>(ids.size()),
                 "a state that does not stand after its ids");
  LOCKSTEP_CHECK(salt.size() <= kMaxSaltBytes, "a salt that is too long");
  read_news();
  ++clock_;
  if (!wants(ids, salt)) return;
  if (MemoryLedger::bytes_of(state) > options_.memory_bytes) {
    ++counts_.too_large;
    return;
  }
  Entry& entry = entry_at(ids, salt);
  entry.kind = kind;
  entry.last_use = clock_;
  ++counts_.saved;
  keep(entry, std::make_shared<const SequenceState>(std::move(state)));
  forget_oldest_ids();
}

bool PromptCache::release_one() {
  Entry* entry = least_valuable(nullptr);
  if (entry == nullptr) return false;
  ++counts_.evicted;
  drop_state(*entry, true);
  return true;
}

void PromptCache::flush() {
  if (!disk_) return;
  disk_->flush();
  read_news();
}

PromptCacheCounts PromptCache::counts() const {
  PromptCacheCounts counts = counts_;
  for (const auto& [value, entry] : entries_) counts.states += entry.state != nullptr;
  counts.bytes = ledger_.bytes();
  if (disk_) counts.disk = disk_->counts();
  return counts;
}

// The value that stands exactly after `ids`; 0: none.
PromptCache::Value PromptCache::value_at(std::span<const int32_t> ids,
                                         std::string_view salt) const {
  const auto tree = trees_.find(salt);
  if (tree == trees_.end()) return 0;
  const PrefixTree::Match match = tree->second.match(ids);
  const bool exact =
      !match.values.empty() && match.values.back().length == static_cast<int64_t>(ids.size());
  return exact ? match.values.back().value : 0;
}

PromptCache::Entry& PromptCache::entry_at(std::span<const int32_t> ids, std::string_view salt) {
  if (const Value value = value_at(ids, salt)) return entries_.at(value);
  auto tree = trees_.find(salt);
  if (tree == trees_.end()) tree = trees_.emplace(std::string(salt), PrefixTree()).first;
  const Value value = ++last_value_;
  Entry& entry = entries_[value];
  entry.value = value;
  entry.salt = &tree->first;
  entry.node = tree->second.insert(ids, value);
  entry.length = static_cast<int64_t>(ids.size());
  entry.last_use = clock_;
  return entry;
}

// From memory, else from its file. A file that is refused is the entry's no longer.
Result<std::shared_ptr<const SequenceState>> PromptCache::state_of(Entry& entry,
                                                                   std::span<const int32_t> ids) {
  if (entry.state) return entry.state;
  SequenceState state = new_state_();
  const Status status = disk_->load(entry.file, *entry.salt, ids, state);
  if (status.ok()) {
    // A snapshot has no second copy of recurrent state, which the reading needed.
    auto loaded = std::make_shared<const SequenceState>(state.snapshot());
    keep(entry, loaded);
    return loaded;
  }
  if (status.error().code != ErrorCode::kOutOfMemory) {
    entry.damaged = status.error().code != ErrorCode::kNotFound;
    lose_file(entry);
  }
  return status.error();
}

// Holds a state in memory and gives up others until the budget is kept, or it itself if it alone is
// beyond it.
void PromptCache::keep(Entry& entry, std::shared_ptr<const SequenceState> state) {
  entry.state = std::move(state);
  entry.damaged = false;
  entry.last_use = clock_;
  ledger_.add(*entry.state);
  while (ledger_.bytes() > options_.memory_bytes) {
    Entry* least = least_valuable(&entry);
    if (least == nullptr) break;
    ++counts_.evicted;
    drop_state(*least, true);
  }
  if (ledger_.bytes() > options_.memory_bytes) drop_state(entry, false);
}

void PromptCache::drop_state(Entry& entry, bool to_disk) {
  ledger_.remove(*entry.state);
  auto state = std::exchange(entry.state, nullptr);
  if (to_disk && disk_ && entry.file.empty()) write(entry, std::move(state), false);
}

void PromptCache::write(const Entry& entry, std::shared_ptr<const SequenceState> state, bool wait) {
  disk_->write({options_.disk->key, *entry.salt, entry.kind, PrefixTree::ids_of(entry.node)},
               std::move(state), wait);
}

void PromptCache::lose_file(Entry& entry) {
  files_.erase(entry.file);
  entry.file.clear();
}

// The least recently used of those that no two others in memory share; if all are shared, of all.
PromptCache::Entry* PromptCache::least_valuable(const Entry* spared) {
  const auto in_memory = [&](Value value) { return entries_.at(value).state != nullptr; };
  std::unordered_set<Value> shared;
  for (const auto& [salt, tree] : trees_) {
    for (const Value value : tree.shared_values(in_memory)) shared.insert(value);
  }
  Entry* least = nullptr;
  bool least_shared = false;
  for (auto& [value, entry] : entries_) {
    if (!entry.state || &entry == spared) continue;
    const bool is_shared = shared.contains(value);
    const bool less = least == nullptr || std::pair(is_shared, entry.last_use) <
                                              std::pair(least_shared, least->last_use);
    if (!less) continue;
    least = &entry;
    least_shared = is_shared;
  }
  return least;
}

// Ids of states that are neither in memory nor on disk explain misses; the oldest go first.
void PromptCache::forget_oldest_ids() {
  int64_t surplus = -options_.index_ids;
  for (const auto& [salt, tree] : trees_) surplus += tree.size();
  if (surplus <= 0) return;
  surplus += options_.index_ids / 8;  // so that not every save has to look for some
  std::vector<std::pair<uint64_t, Value>> lost;
  for (const auto& [value, entry] : entries_) {
    if (!entry.state && entry.file.empty()) lost.emplace_back(entry.last_use, value);
  }
  std::ranges::sort(lost);
  for (size_t i = 0; i < lost.size() && surplus > 0; ++i) surplus -= forget(lost[i].second);
}

// Returns how many ids were held for it alone.
int64_t PromptCache::forget(Value value) {
  const auto entry = entries_.find(value);
  const auto tree = trees_.find(*entry->second.salt);
  const int64_t before = tree->second.size();
  tree->second.erase(entry->second.node);
  const int64_t forgotten = before - tree->second.size();
  entries_.erase(entry);
  if (tree->second.empty()) trees_.erase(tree);
  return forgotten;
}

void PromptCache::read_news() {
  if (!disk_) return;
  for (const CacheDiskNews& news : disk_->take_news()) {
    if (news.head) {
      Entry& entry = entry_at(news.head->ids, news.head->salt);
      if (!entry.state) entry.kind = news.head->kind;
      entry.file = news.file;
      entry.damaged = false;
      files_[news.file] = entry.value;
    } else if (const auto file = files_.find(news.file); file != files_.end()) {
      lose_file(entries_.at(file->second));
    }
  }
}

}  // namespace lockstep
