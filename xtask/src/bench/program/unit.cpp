// One of the parts of the program: NUMBER is its own.
#include "shared.h"
namespace partNUMBER {
struct Item { std::string name; unsigned weight; double score; };
static std::vector<Item> make(unsigned seed) {
    std::vector<Item> items;
    for (unsigned n = 0; n < 300; n++) {
        unsigned value = next(seed + NUMBER);
        seed = value;
        items.push_back(Item{"item" + std::to_string(value % (1000 + NUMBER)), value % (97 + NUMBER), value / 7.0});
    }
    return items;
}
template <typename Key> std::map<Key, std::vector<Item>> group(const std::vector<Item> &items, std::function<Key(const Item &)> key) {
    std::map<Key, std::vector<Item>> groups;
    for (const auto &item : items) groups[key(item)].push_back(item);
    return groups;
}
double run(unsigned seed) {
    auto items = make(seed);
    std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) { return a.score < b.score || (a.score == b.score && a.name < b.name); });
    auto by_name = group<std::string>(items, [](const Item &item) { return item.name; });
    auto by_weight = group<unsigned>(items, [](const Item &item) { return item.weight; });
    std::unordered_map<std::string, double> totals;
    for (const auto &[name, members] : by_name)
        totals[name] += std::accumulate(members.begin(), members.end(), 0.0, [](double sum, const Item &item) { return sum + item.score; });
    double best = 0;
    for (const auto &[weight, members] : by_weight)
        for (const auto &item : members) best = std::max(best, totals[item.name] / (weight + 1));
    std::ostringstream text;
    for (const auto &[name, total] : totals) text << name << '=' << total << ';';
    return best + text.str().size() + parse(text.str());
}
}
