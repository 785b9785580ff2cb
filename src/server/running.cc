#include "server/running.h"

#include <utility>

namespace lockstep {

void Running::Place::begin(std::string path, int64_t prompt_tokens, std::function<void()> cancel) {
  const std::lock_guard lock(running_->mutex_);
  Entry& entry = running_->entries_[id_];
  entry.path = std::move(path);
  entry.prompt_tokens = prompt_tokens;
  entry.cancel = std::move(cancel);
}

void Running::Place::count_token() {
  const std::lock_guard lock(running_->mutex_);
  ++running_->entries_[id_].reply_tokens;
}

std::unique_ptr<Running::Place> Running::enter(std::string& id) {
  const std::lock_guard lock(mutex_);
  if (std::ssize(entries_) >= most_) return nullptr;
  while (entries_.contains(id)) id += "-again";
  entries_[id] = Entry();
  return std::make_unique<Place>(*this, id);
}

void Running::leave(const std::string& id) {
  const std::lock_guard lock(mutex_);
  entries_.erase(id);
}

bool Running::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || !found->second.cancel) return false;
  found->second.cancel();
  return true;
}

json::array Running::list() const {
  const std::lock_guard lock(mutex_);
  json::array list;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [id, entry] : entries_) {
    const double seconds = std::chrono::duration<double>(now - entry.since).count();
    list.push_back(json::object{{"id", id},
                                {"path", entry.path},
                                {"prompt_tokens", entry.prompt_tokens},
                                {"reply_tokens", entry.reply_tokens},
                                {"seconds", seconds}});
  }
  return list;
}

}  // namespace lockstep
