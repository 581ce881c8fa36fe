// Stems of English words by the rules of Snowball 3.1 for English, which are those of
// M. F. Porter, "The English (Porter2) stemming algorithm", 2002, with later exceptions.
// https://snowballstem.org/algorithms/english/stemmer.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kernelwood {

// The stem of a word of ASCII letters in lower case.
class EnglishStem {
 public:
  static std::string of(std::string_view word) {
    for (const auto& [name, stem] : kWhole)
      if (word == name) return std::string(stem);
    if (word.size() < 3) return std::string(word);
    EnglishStem made(word);
    made.drop_plural();
    made.drop_tense();
    made.write_last_y();
    made.shorten_twice();
    made.shorten_once();
    made.drop_ending();
    made.drop_last_letter();
    for (char& letter : made.word_)
      if (letter == 'Y') letter = 'y';
    return std::move(made.word_);
  }

 private:
  struct Rule {
    std::string_view ending, instead;
  };

  // Words with a stem of their own.
  static constexpr std::pair<std::string_view, std::string_view> kWhole[] = {
      {"andes", "andes"}, {"atlas", "atlas"},  {"bias", "bias"},    {"cosmos", "cosmos"},
      {"early", "earli"}, {"gently", "gentl"}, {"howe", "howe"},    {"idly", "idl"},
      {"news", "news"},   {"only", "onli"},    {"singly", "singl"}, {"skies", "sky"},
      {"skis", "ski"},    {"sky", "sky"},      {"ugly", "ugli"},
  };

  // A consonant y is written Y. Region 1 follows the first consonant after a vowel, region 2 the
  // first one after a vowel in region 1.
  explicit EnglishStem(std::string_view word) : word_(word) {
    for (int64_t i = 0; i < size(); ++i)
      if (word_[i] == 'y' && (i == 0 || is_vowel(word_[i - 1]))) word_[i] = 'Y';
    first_ = -1;
    for (std::string_view prefix :
         {"arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers"})
      if (word_.compare(0, prefix.size(), prefix) == 0) first_ = prefix.size();
    if (first_ < 0) first_ = after_consonant(0);
    second_ = after_consonant(first_);
  }

  int64_t size() const { return static_cast<int64_t>(word_.size()); }

  static bool is_one_of(char letter, std::string_view letters) {
    return letters.find(letter) != std::string_view::npos;
  }
  static bool is_vowel(char letter) { return is_one_of(letter, "aeiouy"); }

  int64_t after_consonant(int64_t place) const {
    while (place < size() && !is_vowel(word_[place])) ++place;
    while (place < size() && is_vowel(word_[place])) ++place;
    return place < size() ? place + 1 : size();
  }

  bool ends_with(std::string_view ending, int64_t end) const {
    const int64_t start = end - static_cast<int64_t>(ending.size());
    return start >= 0 && word_.compare(start, ending.size(), ending) == 0;
  }
  bool ends_with(std::string_view ending) const { return ends_with(ending, size()); }

  // The rule with the longest ending that the word has.
  template <size_t n>
  const Rule* find(const Rule (&rules)[n]) const {
    const Rule* found = nullptr;
    for (const Rule& rule : rules)
      if ((!found || rule.ending.size() > found->ending.size()) && ends_with(rule.ending))
        found = &rule;
    return found;
  }

  int64_t start_of(const Rule& rule) const {
    return size() - static_cast<int64_t>(rule.ending.size());
  }

  void replace_from(int64_t start, std::string_view instead) {
    word_.replace(start, std::string::npos, instead);
  }

  bool has_vowel_before(int64_t end) const {
    for (int64_t i = 0; i < end; ++i)
      if (is_vowel(word_[i])) return true;
    return false;
  }

  // Whether the letters before a place end in a short syllable.
  bool is_short(int64_t end) const {
    if (end >= 3 && !is_one_of(word_[end - 1], "Yaeiouwxy") && is_vowel(word_[end - 2]) &&
        !is_vowel(word_[end - 3]))
      return true;
    if (end == 2 && !is_vowel(word_[1]) && is_vowel(word_[0])) return true;
    return ends_with("past", end);
  }

  void drop_plural() {
    if (ends_with("sses"))
      word_.resize(size() - 2);
    else if (ends_with("ied") || ends_with("ies"))
      replace_from(size() - 3, size() >= 5 ? "i" : "ie");
    else if (ends_with("s") && !ends_with("ss") && !ends_with("us") && has_vowel_before(size() - 2))
      word_.pop_back();
  }

  void drop_tense() {
    static constexpr Rule kTenses[] = {{"ed", ""},   {"eed", "ee"},   {"ing", ""},
                                       {"edly", ""}, {"eedly", "ee"}, {"ingly", ""}};
    const Rule* rule = find(kTenses);
    if (!rule) return;
    const int64_t start = start_of(*rule);
    const std::string_view kept = std::string_view(word_).substr(0, start);
    if (!rule->instead.empty()) {
      if (first_ <= start && kept != "succ" && kept != "proc" && kept != "exc")
        replace_from(start, rule->instead);
      return;
    }
    if (rule->ending == "ing") {
      if (start == 2 && word_[1] == 'y' && !is_vowel(word_[0])) return replace_from(1, "ie");
      for (std::string_view name : {"even", "cann", "inn", "earr", "herr", "out"})
        if (kept == name) return;
    }
    if (!has_vowel_before(start)) return;
    word_.resize(start);
    if (ends_with("bl") || ends_with("at") || ends_with("iz")) {
      word_ += 'e';
    } else if (size() >= 2 && word_[size() - 1] == word_[size() - 2] &&
               is_one_of(word_.back(), "bdfgmnprt")) {
      if (size() != 3 || !is_one_of(word_[0], "aeo")) word_.pop_back();
    } else if (size() == first_ && is_short(size())) {
      word_ += 'e';
    }
  }

  void write_last_y() {
    if (size() > 2 && is_one_of(word_.back(), "yY") && !is_vowel(word_[size() - 2]))
      word_.back() = 'i';
  }

  void shorten_twice() {
    static constexpr Rule kRules[] = {
        {"anci", "ance"},   {"enci", "ence"},   {"ogi", "og"},      {"li", ""},
        {"bli", "ble"},     {"abli", "able"},   {"alli", "al"},     {"fulli", "ful"},
        {"lessli", "less"}, {"ousli", "ous"},   {"entli", "ent"},   {"aliti", "al"},
        {"biliti", "ble"},  {"iviti", "ive"},   {"tional", "tion"}, {"ational", "ate"},
        {"alism", "al"},    {"ation", "ate"},   {"ization", "ize"}, {"izer", "ize"},
        {"ator", "ate"},    {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"},
        {"ogist", "og"}};
    const Rule* rule = find(kRules);
    if (!rule) return;
    const int64_t start = start_of(*rule);
    if (start < first_) return;
    if (rule->ending == "ogi" && !ends_with("l", start)) return;
    if (rule->ending == "li" && (start == 0 || !is_one_of(word_[start - 1], "cdeghkmnrt"))) return;
    replace_from(start, rule->instead);
  }

  void shorten_once() {
    static constexpr Rule kRules[] = {{"icate", "ic"},    {"ative", ""},  {"alize", "al"},
                                      {"iciti", "ic"},    {"ical", "ic"}, {"tional", "tion"},
                                      {"ational", "ate"}, {"ful", ""},    {"ness", ""}};
    const Rule* rule = find(kRules);
    if (!rule) return;
    const int64_t start = start_of(*rule);
    if (start >= (rule->ending == "ative" ? second_ : first_)) replace_from(start, rule->instead);
  }

  void drop_ending() {
    static constexpr Rule kRules[] = {
        {"ic", ""},  {"ance", ""}, {"ence", ""}, {"able", ""}, {"ible", ""}, {"ate", ""},
        {"ive", ""}, {"ize", ""},  {"iti", ""},  {"al", ""},   {"ism", ""},  {"ion", ""},
        {"er", ""},  {"ous", ""},  {"ant", ""},  {"ent", ""},  {"ment", ""}, {"ement", ""}};
    const Rule* rule = find(kRules);
    if (!rule) return;
    const int64_t start = start_of(*rule);
    if (start < second_) return;
    if (rule->ending == "ion" && !ends_with("s", start) && !ends_with("t", start)) return;
    word_.resize(start);
  }

  void drop_last_letter() {
    const int64_t start = size() - 1;
    if (ends_with("e") ? start >= second_ || (start >= first_ && !is_short(start))
                       : ends_with("ll") && start >= second_)
      word_.pop_back();
  }

  std::string word_;
  int64_t first_, second_;  // where the regions begin
};

}  // namespace kernelwood
