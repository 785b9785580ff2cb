#include "apps/bench_report.h"

#include <fmt/format.h>

#include "base/json.h"

namespace lockstep {
namespace {

std::string rate_text(const bench::Spread& rate) {
  const int decimals = rate.median < 99.95 ? 2 : 0;
  return fmt::format("{:>9.{}f} tok/s  [{:.{}f}, {:.{}f}]", rate.median, decimals, rate.low,
                     decimals, rate.high, decimals);
}

std::string decode_label(const DecodeFigure& figure) {
  std::string label = fmt::format("decode at {}", figure.depth);
  if (figure.streams > 1) label += fmt::format(", {} streams", figure.streams);
  return label;
}

std::string share_text(const DecodeFigure& figure) {
  if (!figure.limit || !figure.share) return {};
  return fmt::format("  {:.0f} % of {:.1f} GB/s read  [{:.0f}, {:.0f}]",
                     100.0 * figure.share->median, figure.limit->median * 1e-9,
                     100.0 * figure.share->low, 100.0 * figure.share->high);
}

uint64_t planned_anonymous(const MemoryPlan& plan) { return plan.total() - plan.weights; }

std::string memory_text(const BenchReport& report) {
  if (!report.memory) return "memory                  this system does not say\n";
  return fmt::format("memory                  {} anonymous (planned {}), {} mapped (planned {})\n",
                     format_bytes(report.memory->anonymous),
                     format_bytes(planned_anonymous(report.plan)),
                     format_bytes(report.memory->mapped), format_bytes(report.plan.weights));
}

json::object prefill_json(const PrefillFigure& figure) {
  return {{"length", figure.length}, {"tokens_per_second", to_json(figure.rate)}};
}

json::object decode_json(const DecodeFigure& figure) {
  json::object object = {{"depth", figure.depth},
                         {"streams", figure.streams},
                         {"tokens_per_second", to_json(figure.rate)},
                         {"bytes_per_round", json::object{{"weights", figure.traffic.weights},
                                                          {"state", figure.traffic.state},
                                                          {"kv", figure.traffic.kv}}}};
  if (figure.limit) object["read_bytes_per_second"] = to_json(*figure.limit);
  if (figure.share) object["share_of_read_bandwidth"] = to_json(*figure.share);
  return object;
}

json::value memory_json(const BenchReport& report) {
  if (!report.memory) return nullptr;
  return json::object{{"anonymous", report.memory->anonymous},
                      {"mapped", report.memory->mapped},
                      {"planned_anonymous", planned_anonymous(report.plan)},
                      {"planned_mapped", report.plan.weights}};
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  std::string text = fmt::format(
      "model                   {}\nmachine                 {}, {} usable, load {:.2f}, {}, {}\n"
      "runs on                 {} thread{}, {}\n",
      report.model, report.machine.cpu, report.machine.usable_cpus, report.machine.load,
      report.machine.system, report.machine.build, report.threads, report.threads == 1 ? "" : "s",
      to_string(report.isa));
  text += fmt::format("load to first token     {:>9.3f} s\n", report.load_seconds);
  for (const PrefillFigure& figure : report.prefill) {
    const std::string label = fmt::format("prefill of {}", figure.length);
    text += fmt::format("{:<24}{}\n", label, rate_text(figure.rate));
  }
  for (const DecodeFigure& figure : report.decode) {
    text += fmt::format("{:<24}{}{}\n", decode_label(figure), rate_text(figure.rate),
                        share_text(figure));
  }
  return text + memory_text(report);
}

std::string bench_json(const BenchReport& report) {
  json::array prefill, decode;
  for (const PrefillFigure& figure : report.prefill) prefill.push_back(prefill_json(figure));
  for (const DecodeFigure& figure : report.decode) decode.push_back(decode_json(figure));
  const json::object object = {{"model", report.model},
                               {"precision_tuple", report.precision_tuple},
                               {"machine", to_json(report.machine)},
                               {"threads", report.threads},
                               {"isa", to_string(report.isa)},
                               {"load_seconds", report.load_seconds},
                               {"prefill", std::move(prefill)},
                               {"decode", std::move(decode)},
                               {"memory", memory_json(report)}};
  return dump_json(object) + "\n";
}

}  // namespace lockstep
