#include "ir/einsum.h"

#include <algorithm>

#include "base/error.h"
#include "ir/infer_parts.h"
#include "sym/text_reader.h"

namespace plait {

namespace {

constexpr std::string_view kDots = "...";
constexpr std::string_view kArrow = "->";
constexpr int kFirstDot = 'z' + 1;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

[[noreturn]] void refuse(const Einsum& op, const std::string& what, const std::string& remedy) {
  throw UserError(what, describe(op), remedy);
}

std::string without_blanks(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char c) { return c != ' '; });
  return out;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (size_t comma; (comma = text.find(at)) != text.npos; text.remove_prefix(comma + 1))
    out.push_back(text.substr(0, comma));
  out.push_back(text);
  return out;
}

// What stands for one tensor: letters, and at most once `...`, before letter `dots`.
struct Term {
  std::string letters;
  std::optional<size_t> dots;
};

Term read_term(const Einsum& op, std::string_view text) {
  Term out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (is_letter(text[at])) {
      out.letters += text[at];
    } else if (text.substr(at, kDots.size()) == kDots && !out.dots) {
      out.dots = out.letters.size();
      at += kDots.size() - 1;
    } else {
      refuse(op, fmt::format("`{}` of the equation `{}` is no list of labels", text, op.equation),
             "labels are letters a-z and A-Z; `...` may stand once for the dims without a label");
    }
  }
  return out;
}

// Labels of `dots` dims of `...` among the letters.
std::vector<int> labels_of(const Term& term, size_t dots) {
  std::vector<int> out(term.letters.begin(), term.letters.end());
  if (!term.dots) return out;
  std::vector<int> more;
  for (size_t d = dots; d > 0; --d) more.push_back(kFirstDot + int(d) - 1);
  out.insert(out.begin() + int64_t(*term.dots), more.begin(), more.end());
  return out;
}

std::vector<int> labels_of_operand(const Einsum& op, const Term& term, const TensorView* t) {
  const size_t named = term.letters.size();
  if (t->rank() < named || (t->rank() > named && !term.dots))
    refuse(op,
           fmt::format("{} has {} dim{}, the equation `{}` gives it {} label{}", rules::text(t), t->rank(),
                       t->rank() == 1 ? "" : "s", op.equation, named, named == 1 ? "" : "s"),
           "write one label for each dim, or `...` for those without");
  return labels_of(term, t->rank() - named);
}

std::string label_text(int label) { return label < kFirstDot ? fmt::format("`{}`", char(label)) : "`...`"; }

// A dim of an operand.
struct Place {
  const TensorView* tensor;
  size_t dim;
  sym::Expr extent() const { return tensor->extent(dim); }
};

void check_equal(const Einsum& op, int label, const Place& a, const Place& b) {
  if (rules::same_extent(a.extent(), b.extent())) return;
  refuse(
      op,
      fmt::format("extents of label {} differ: dim {} of {} is {}, dim {} of {} is {}", label_text(label), a.dim,
                  rules::text(a.tensor), sym::print(a.extent()), b.dim, rules::text(b.tensor), sym::print(b.extent())),
      "make them equal, or 1 to broadcast");
}

// Of one operand a label has one extent; of several operands 1 broadcasts.
void add_places(const Einsum& op, const TensorView* t, const std::vector<int>& labels, std::map<int, Place>& places) {
  std::map<int, Place> own;
  for (size_t d = 0; d < labels.size(); ++d)
    if (const auto [first, fresh] = own.emplace(labels[d], Place{t, d}); !fresh)
      check_equal(op, labels[d], first->second, {t, d});
  for (const auto& [label, place] : own) {
    const auto [known, fresh] = places.emplace(label, place);
    if (fresh || rules::is_unit(place.extent())) continue;
    if (rules::is_unit(known->second.extent()))
      known->second = place;
    else
      check_equal(op, label, known->second, place);
  }
}

std::vector<int> labels_of_result(const Einsum& op, const Term& term, size_t dots,
                                  const std::map<int, sym::Expr>& extents) {
  if (dots > 0 && !term.dots)
    refuse(op, fmt::format("the result of `{}` leaves out the dims of `...`", op.equation),
           "write `...` in the result; dims to be summed need labels");
  std::vector<int> out = labels_of(term, dots);
  for (int label : out) {
    if (std::count(out.begin(), out.end(), label) > 1)
      refuse(op, fmt::format("label {} stands twice in the result of `{}`", label_text(label), op.equation),
             "name each dim of the result once");
    if (!extents.contains(label))
      refuse(op, fmt::format("no operand has the label {} of the result of `{}`", label_text(label), op.equation),
             "the result has labels of operands");
  }
  return out;
}

}  // namespace

EinsumLabels read_equation(const Einsum& op) {
  if (op.equation.size() > kMaxQuoted)
    refuse(op, fmt::format("an equation of {} characters", op.equation.size()),
           fmt::format("equations have at most {}: multiply in several steps", kMaxQuoted));
  const size_t arrow = op.equation.find(kArrow);
  if (arrow == op.equation.npos)
    refuse(op, fmt::format("`{}` is no equation", op.equation), "write e.g. equation = \"ij,jk->ik\"");
  const std::vector<std::string_view> texts = split(std::string_view(op.equation).substr(0, arrow), ',');
  if (texts.size() != op.in.size())
    refuse(op,
           fmt::format("the equation `{}` is of {} tensor{}, found {}", op.equation, texts.size(),
                       texts.size() == 1 ? "" : "s", op.in.size()),
           "write the labels of each tensor, with a comma between two");
  EinsumLabels out;
  std::map<int, Place> places;
  size_t dots = 0;
  for (size_t i = 0; i < op.in.size(); ++i) {
    const Term term = read_term(op, texts[i]);
    out.in.push_back(labels_of_operand(op, term, op.in[i]));
    if (term.dots) dots = std::max(dots, op.in[i]->rank() - term.letters.size());
    add_places(op, op.in[i], out.in.back(), places);
  }
  for (const auto& [label, place] : places) out.extents.emplace(label, place.extent());
  const Term result = read_term(op, std::string_view(op.equation).substr(arrow + kArrow.size()));
  out.out = labels_of_result(op, result, dots, out.extents);
  return out;
}

std::string complete_equation(std::string_view equation) {
  if (equation.size() > kMaxQuoted) return std::string(equation);
  std::string out = without_blanks(equation);
  if (out.find(kArrow) != out.npos || out.find_first_of("->") != out.npos) return out;
  std::string letters = out;
  std::sort(letters.begin(), letters.end());
  const bool dots = out.find(kDots) != out.npos;
  out += kArrow;
  if (dots) out += kDots;
  for (char c : letters)
    if (is_letter(c) && std::count(letters.begin(), letters.end(), c) == 1) out += c;
  return out;
}

}  // namespace plait
