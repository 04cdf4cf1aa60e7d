#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr std::string_view kText = "data.corpus!=synthetic:*";
constexpr std::string_view kOneText = "data.corpus=file|self|tiny-shakespeare";
constexpr std::string_view kSynthetic = "data.corpus=synthetic:*";
constexpr std::string_view kMarkov = "data.corpus=synthetic:markov";

constexpr Leaf kData[] = {
    word("data.corpus",
         "wikitext-2 tiny-shakespeare self file synthetic:markov synthetic:copy "
         "synthetic:induction",
         "wikitext-2", Structural,
         "a named corpus is identified by its name, `file` by the digest of its bytes"),
    file_leaf(
        read(or_null(text("data.path", "null",
                          "folder of a named corpus; with `file`, the text itself, or several "
                          "texts",
                          ValueKind::TextList),
                     "search order: $DEPTHGRID_DATA/NAME, ./data/NAME"),
             kText)),
    file_leaf(read(or_null(text("data.valid", "null", "the user's own validation text"),
                           "a share of the text"),
                   "data.corpus=file")),
    file_leaf(read(or_null(text("data.test", "null", "the user's own test text"), "none"), kText)),
    read(word("data.format", "auto text jsonl tokens", "auto", Structural,
              "how the user's own files hold their text; auto: each by its suffix, .jsonl and "
              ".ndjson one JSON object a line, .bin tokens, all others text"),
         "data.corpus=file or data.test!=null"),
    read(structural(text("data.text_key", "text", "field that holds the text in JSONL")),
         "data.corpus=file or data.test!=null"),
    read(word("data.tokenizer", "char256 byte gpt2 char word", "char256", Structural,
              "min(code point, 255); UTF-8 bytes; GPT-2's BPE; the training text's characters; "
              "its most frequent words"),
         kText),
    read(integer("data.vocab_size", 2, 262144, "tokens", "4096", Structural,
                 "V of the word tokeniser"),
         "data.corpus!=synthetic:* & data.tokenizer=word"),
    read(word("data.join", "as_is published_2", "as_is", Structural,
              "the text as it is, or with blank lines dropped and a newline added to every "
              "remaining line"),
         kText),
    file_leaf(
        read(or_null(text("data.tokenizer_path", "null", "folder of encoder.json and vocab.bpe"),
                     "search order: $DEPTHGRID_DATA/gpt2-bpe, ./data/gpt2-bpe"),
             "data.corpus!=synthetic:* & data.tokenizer=gpt2")),
    read(word("data.split", "standard published", "standard", Structural,
              "published: all of train for gradients, no dev"),
         kText),
    read(real("data.dev_fraction", 0, 0.5, "–", "0.02", Structural,
              "share of train's lines, taken from the end, that becomes dev"),
         "data.corpus!=synthetic:* & data.split=standard"),
    read(real("data.valid_fraction", 0, 0.5, "–", "0.02", Structural,
              "share of a text of one's own (or of self, tiny-shakespeare), after dev, that "
              "becomes valid unless data.valid names a text"),
         kOneText),
    read(real("data.test_fraction", 0, 0.5, "–", "0", Structural,
              "likewise the last share, that becomes test"),
         "data.corpus=file|self|tiny-shakespeare & data.test=null"),
    null_means(integer("data.train_tokens", 1, kUnlimited, "tokens", "null", Structural,
                       "use only this many, from the first"),
               "all"),
    integer("data.seq_len", 2, 131072, "tokens", "128", Structural, "T, length of a window"),
    word("data.sampler", "iid epoch published_1 published_2", "iid", Structural,
         "windows at random; a permutation per epoch; B consecutive windows; random starts over "
         "one stream"),
    or_words(integer("data.first_step", 0, 4294967295.0, "steps", "0", PerCell,
                     "steps of the window order passed over before the first; source: those of the "
                     "cell that `model.init.from` names, so that its windows are not seen again "
                     "from the first on"),
             "source"),
    file_leaf(or_null(text("data.cache", "null", "folder of token files"), "beside the store")),
    read(integer("data.synthetic.order", 0, 4, "tokens", "1", Structural,
                 "memory of the Markov chain; 0 = independent draws; V^order ≤ 65,536"),
         kMarkov),
    read(integer("data.synthetic.vocab_size", 2, 262144, "tokens", "64", Structural,
                 "V of the synthetic source"),
         kSynthetic),
    read(integer("data.synthetic.tokens", 1, kUnlimited, "tokens", "1000000", Structural,
                 "length of the stream"),
         kSynthetic),
    read(or_words(above(real("data.synthetic.concentration", 0, kUnlimited, "–", "0.1", Structural,
                             "Dirichlet parameter of the transition rows; sets the entropy "
                             "rate")),
                  "uniform"),
         kMarkov),
    read(integer("data.synthetic.lag", 1, 131072, "tokens", "32", Structural,
                 "distance of the copy or induction"),
         "data.corpus=synthetic:copy|synthetic:induction"),
};

constexpr SchemaSection kDataSections[] = {{"Data", kData}};

}  // namespace

std::span<const SchemaSection> data_sections() {
  return kDataSections;
}

}  // namespace depthgrid
