// What all parts of the program have in common.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
inline unsigned next(unsigned state) { return state * 1664525u + 1013904223u; }
inline double parse(const std::string &text) {
    std::istringstream in(text);
    std::string pair;
    double sum = 0;
    while (std::getline(in, pair, ';')) {
        auto at = pair.find('=');
        if (at != std::string::npos) sum += std::stod(pair.substr(at + 1));
    }
    return sum;
}
