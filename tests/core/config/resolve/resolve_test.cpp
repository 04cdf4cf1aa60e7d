#include "core/config/resolve/resolve.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace resolve_test {

/// What is wrong with a configuration, or "".
std::string problem(const ValueMap& leaves) {
  try {
    make_config(leaves);
  } catch (const SweepErrors& errors) {
    return errors.what();
  }
  return "";
}

bool complains(const ValueMap& leaves, std::string_view part) {
  const std::string text = problem(leaves);
  return text.find(part) != std::string::npos;
}

TEST(Resolve, DefaultsAreTheStudysModel) {
  const CellConfig c;

  EXPECT_EQ(c.word("model.family"), "standard");
  EXPECT_EQ(c.integer("model.d_model"), 256);
  EXPECT_EQ(c.integer("model.d_ff"), 1024);
  EXPECT_EQ(c.integer("model.vocab_size"), 256);
  EXPECT_EQ(c.integer("model.max_seq_len"), 128);
  EXPECT_EQ(c.word("model.sublayers"), "sequential");
  EXPECT_EQ(c.word("model.attention.implementation"), "sdpa");
  EXPECT_EQ(c.real("model.init.embedding_std"), 0.02);
  EXPECT_TRUE(c.flag("model.init.residual_scaling"));
  EXPECT_EQ(c.real("train.groups.head.lr"), 3e-4);
  EXPECT_EQ(c.words("eval.splits"), (std::vector<std::string>{"train", "dev", "valid"}));
  EXPECT_EQ(c.integer("eval.stride"), 128);
  EXPECT_EQ(c.integer("checkpoint.keep_best"), 1);
  EXPECT_TRUE(c.null("train.schedule.decay_steps"));
  EXPECT_EQ(c.integer_if("train.schedule.decay_steps"), std::nullopt);
  EXPECT_EQ(c.integer_if("eval.stride"), 128);
  EXPECT_TRUE(c.changed().empty());
}

TEST(Resolve, DerivedDefaultsFollowTheirLeaves) {
  EXPECT_EQ(make_config({{"model.d_model", 64}}).integer("model.d_ff"), 256);
  EXPECT_EQ(make_config({{"model.family", "time_indexed"}}).word("model.sublayers"), "parallel");
  EXPECT_EQ(make_config({{"model.norm", "none"}}).word("model.final_norm"), "none");
  EXPECT_EQ(make_config({{"model.dropout.attention", 0.1}}).word("model.attention.implementation"),
            "explicit");
  EXPECT_EQ(make_config({{"model.init.scheme", "pytorch"}}).real("model.init.embedding_std"), 1.0);
  // A table that is the head too gives logits of unit variance.
  EXPECT_EQ(make_config({{"model.d_model", std::int64_t{64}},
                         {"model.init.scheme", "pytorch"},
                         {"model.tie_embeddings", true}})
                .real("model.init.embedding_std"),
            0.125);
  EXPECT_FALSE(make_config({{"model.init.scheme", "pytorch"}}).flag("model.init.residual_scaling"));
  EXPECT_EQ(make_config({{"model.residual.scale", "1/L"}, {"model.n_layers", 4}})
                .real("model.residual.scale"),
            0.25);
  EXPECT_EQ(make_config({{"data.seq_len", 32}}).integer("eval.stride"), 32);
  EXPECT_EQ(make_config({{"data.split", "published"}}).words("eval.splits"),
            (std::vector<std::string>{"train", "valid"}));
  EXPECT_EQ(make_config({{"data.split", "published"}}).integer("checkpoint.keep_best"), 0);
}

TEST(Resolve, VocabularyComesFromTheTokeniserOrTheSource) {
  EXPECT_EQ(make_config({{"data.tokenizer", "byte"}}).integer("model.vocab_size"), 256);
  EXPECT_EQ(make_config({{"data.tokenizer", "gpt2"}}).integer("model.vocab_size"), 50257);
  EXPECT_EQ(make_config({{"data.tokenizer", "word"}, {"data.vocab_size", 900}})
                .integer("model.vocab_size"),
            900);
  EXPECT_EQ(make_config({{"data.corpus", "synthetic:copy"}, {"data.synthetic.vocab_size", 10}})
                .integer("model.vocab_size"),
            10);
  EXPECT_TRUE(complains({{"data.tokenizer", "char"}}, "give `model.vocab_size`"));
  EXPECT_EQ(make_config({{"data.tokenizer", "char"}, {"model.vocab_size", 65}})
                .integer("model.vocab_size"),
            65);
  EXPECT_TRUE(complains({{"model.vocab_size", 100}}, "256"));
  EXPECT_EQ(make_config({{"model.vocab_size", 300}}).integer("model.vocab_size"), 300);
}

TEST(Resolve, SchedulesKnowTheirLength) {
  EXPECT_EQ(make_config({{"train.schedule.kind", "cosine"}, {"train.schedule.warmup_steps", 100}})
                .integer("train.schedule.decay_steps"),
            900);
  EXPECT_EQ(make_config({{"train.schedule.kind", "wsd"}}).integer("train.schedule.decay_steps"),
            200);
}

TEST(Resolve, GroupsFollowTheWholeUnlessNamed) {
  const CellConfig c = make_config({{"train.lr", 0.01},
                                    {"train.weight_decay", 0.1},
                                    {"train.optimizer", "adamw"},
                                    {"train.groups.head.lr", 0.5}});
  EXPECT_EQ(c.real("train.groups.trunk.lr"), 0.01);
  EXPECT_EQ(c.real("train.groups.head.lr"), 0.5);
  EXPECT_EQ(c.real("train.groups.trunk.weight_decay"), 0.1);
  EXPECT_EQ(c.real("train.groups.norm.weight_decay"), 0.0);  // train.no_decay lists it
  EXPECT_TRUE(complains({{"train.groups.norm.weight_decay", 0.1}}, "`train.no_decay`"));
}

TEST(Resolve, GainsHaveARateOfTheirOwn) {
  const ValueMap gated = {{"model.family", "time_indexed"}, {"model.init.gain", "learned"}};
  ValueMap fast = gated;
  fast.emplace_back("train.groups.gain.lr", 0.5);

  EXPECT_EQ(make_config(gated).real("train.groups.gain.lr"), 3e-4);
  EXPECT_EQ(make_config(fast).real("train.groups.gain.lr"), 0.5);
  EXPECT_TRUE(complains({{"model.init.gain", "learned"}}, "`model.family: time_indexed`"));
  EXPECT_TRUE(complains({{"train.groups.gain.lr", 0.5}}, "`model.init.gain: learned`"));
}

TEST(Resolve, RouterAndScalarsOfTdtNeverDecayUnlessTheirOwnLeafSaysSo) {
  ValueMap leaves = {
      {"model.family", "tdt"}, {"train.optimizer", "adamw"}, {"train.weight_decay", 0.1}};
  EXPECT_EQ(make_config(leaves).real("train.groups.scalars.weight_decay"), 0.0);
  for (const ValueList& no_decay : {ValueList{}, ValueList{"norm"}, ValueList{"trunk", "router"}}) {
    ValueMap given = leaves;
    given.emplace_back("train.no_decay", no_decay);
    const CellConfig c = make_config(given);
    EXPECT_EQ(c.real("train.groups.scalars.weight_decay"), 0.0);
    EXPECT_EQ(c.real("train.groups.router.weight_decay"), 0.0);
    EXPECT_EQ(c.real("train.groups.tpn.weight_decay"), 0.1);
    EXPECT_EQ(find_key(c.changed(), "train.groups.scalars.weight_decay"), nullptr);
  }
  leaves.emplace_back("train.no_decay", ValueList{});
  leaves.emplace_back("train.groups.scalars.weight_decay", 0.2);
  EXPECT_EQ(make_config(leaves).real("train.groups.scalars.weight_decay"), 0.2);
}

TEST(Resolve, GranularityNamesEveryTargetOrOneWord) {
  const ValueMap base = {{"model.family", "time_indexed"}};
  auto with = [&](const Value& granularity, const Value& targets) {
    ValueMap map = base;
    map.emplace_back("model.modulation.granularity", granularity);
    if (!targets.is_null()) map.emplace_back("model.modulation.targets", targets);
    return map;
  };
  EXPECT_EQ(canonical_json(make_config(with(ValueMap{{"q", "column"}}, ValueList{"q", "up"}))
                               .at("model.modulation.granularity")),
            R"({"q":"column","up":"row"})");
  EXPECT_EQ(make_config(with(ValueMap{{"q", "row"}}, Value())).at("model.modulation.granularity"),
            Value("row"));
  EXPECT_TRUE(complains(with(ValueMap{{"out", "column"}}, ValueList{"q"}), "'out'"));
}

TEST(Resolve, PresetsFillWhatTheFileDoesNotName) {
  const CellConfig c = make_config({{"model.preset", "published/time_indexed_mlp"}});

  EXPECT_EQ(c.word("model.family"), "time_indexed");
  EXPECT_EQ(c.integer("model.d_ff"), 256);
  EXPECT_EQ(c.integer("model.vocab_size"), 256);
  EXPECT_EQ(c.integer("model.modulation.hidden"), 0);
  EXPECT_EQ(c.word("model.final_norm"), "temporal_layer_norm");
  EXPECT_EQ(c.integer("model.temporal_norm.hidden"), 64);
  EXPECT_EQ(c.word("model.positions"), "none");
  EXPECT_EQ(c.word("model.sublayers"), "sequential");
  EXPECT_FALSE(c.flag("model.attention.bias"));
  EXPECT_EQ(
      canonical_json(c.at("model.modulation.granularity")),
      R"({"down":"column","k":"column","out":"row","q":"column","up":"column","v":"column"})");
  EXPECT_EQ(make_config({{"model.preset", "published/time_indexed_mlp"}, {"model.d_ff", 512}})
                .integer("model.d_ff"),
            512);
}

TEST(Resolve, TongDerivesItsOwnDefaults) {
  const CellConfig c = make_config({{"model.family", "tong"}, {"model.n_layers", 4}});

  EXPECT_EQ(c.real("model.residual.scale"), 0.25);
  EXPECT_EQ(c.word("model.sublayers"), "parallel");
  EXPECT_FALSE(c.flag("model.time_features.include_t"));
  EXPECT_EQ(c.word("model.share"), "all");
  EXPECT_EQ(cell_id(make_config({{"model.family", "tong"}, {"model.residual.scale", "1/L"}})),
            cell_id(make_config({{"model.family", "tong"}})));
  EXPECT_NE(cell_id(make_config({{"model.family", "tong"}, {"model.residual.scale", 1.0}})),
            cell_id(make_config({{"model.family", "tong"}})));
  EXPECT_EQ(CellConfig().real("model.residual.scale"), 1.0);
  EXPECT_TRUE(CellConfig().flag("model.time_features.include_t"));
}

TEST(Resolve, SharingIsOffInStandardAndOnInTongUnlessSaid) {
  EXPECT_EQ(CellConfig().word("model.share"), "none");
  EXPECT_EQ(cell_id(make_config({{"model.share", "none"}})), cell_id(CellConfig()));
  EXPECT_EQ(cell_id(make_config({{"model.family", "tong"}, {"model.share", "all"}})),
            cell_id(make_config({{"model.family", "tong"}})));
  for (const char* word : {"all", "attention", "ffn"}) {
    const CellConfig c = make_config({{"model.share", word}});
    EXPECT_EQ(c.word("model.share"), word);
    EXPECT_NE(structure_key(c), structure_key(CellConfig()));
  }
}

TEST(Resolve, PublishedModelsOfGeneratedWeightsDifferInFourLeaves) {
  const CellConfig tong = make_config({{"model.preset", "published/tong"}});
  const CellConfig standard = make_config({{"model.preset", "published/standard"}});

  for (const CellConfig* c : {&tong, &standard}) {
    EXPECT_EQ(c->word("model.family"), "tong");
    EXPECT_EQ(c->word("model.norm_kind"), "temporal_layer_norm");
    EXPECT_EQ(c->word("model.time_features.kind"), "geometric");
    EXPECT_TRUE(c->flag("model.time_features.include_t"));
    EXPECT_TRUE(c->flag("model.hypernet.share_qkv"));
    EXPECT_EQ(c->integer("model.d_ff"), 1024);
  }
  EXPECT_EQ(tong.word("model.share"), "all");
  EXPECT_EQ(tong.word("model.sublayers"), "parallel");
  EXPECT_EQ(tong.word("model.final_norm"), "layer_norm");
  EXPECT_EQ(tong.real("model.residual.scale"), 1.0 / 6);
  EXPECT_EQ(standard.word("model.share"), "none");
  EXPECT_EQ(standard.word("model.sublayers"), "sequential");
  EXPECT_EQ(standard.word("model.final_norm"), "temporal_layer_norm");
  EXPECT_EQ(standard.real("model.residual.scale"), 1.0);
}

TEST(Resolve, LeavesOfGeneratorsAreReadWhereThereAreGenerators) {
  const auto tong = [](ValueMap more) {
    more.emplace_back("model.family", "tong");
    return more;
  };
  EXPECT_TRUE(complains({{"model.hypernet.hidden", 8}}, "`model.family: tong`"));
  EXPECT_TRUE(complains({{"model.family", "time_indexed"}, {"model.share", "none"}},
                        "`model.family: standard or tong`"));
  EXPECT_TRUE(complains(tong({{"model.share", "ffn"}}), "`model.share: ffn`"));
  EXPECT_TRUE(complains({{"train.groups.hypernet.lr", 0.1}}, "`model.family: tong`"));
  EXPECT_TRUE(complains(tong({{"train.groups.trunk.lr", 0.1}}), "model.family: not tong"));
  EXPECT_TRUE(complains(tong({{"model.modulation.hidden", 8}}), "time_indexed"));
  EXPECT_TRUE(complains(tong({{"train.groups.bias.lr", 0.1}}), "train.groups.bias.lr"));
  EXPECT_EQ(problem(tong({{"train.groups.bias.lr", 0.1}, {"model.hypernet.generate_bias", false}})),
            "");
  EXPECT_TRUE(complains(tong({{"model.hypernet.depth", 1}, {"model.hypernet.activation", "relu"}}),
                        "depth: not 1"));
  EXPECT_EQ(problem(tong({{"model.norm_kind", "temporal_layer_norm"},
                          {"model.time.value", 0.5},
                          {"model.time.dependence", "constant"},
                          {"model.time_features.kind", "geometric"},
                          {"model.time_features.base", 100}})),
            "");
}

TEST(Resolve, TheStateSpacePresetIsGeneratedAndGatesAttentionAlone) {
  const CellConfig c = make_config({{"model.preset", "published/time_indexed_ssm"}});

  EXPECT_EQ(c.word("model.mixer"), "ssm");
  EXPECT_EQ(c.word("model.ssm.parameters"), "generated");
  EXPECT_EQ(c.word("model.ssm.discretisation"), "euler");
  EXPECT_EQ(c.word("model.ssm.granularity"), "element");
  EXPECT_EQ(c.integer("model.hypernet.hidden"), 64);
  EXPECT_EQ(c.words("model.modulation.targets"), (std::vector<std::string>{"q", "k", "v", "out"}));
}

TEST(Resolve, AStateSpaceLayerHasItsOwnLeavesAndNoneOfTheMlp) {
  const auto ssm = [](ValueMap more) {
    more.emplace_back("model.family", "time_indexed");
    more.emplace_back("model.mixer", "ssm");
    return more;
  };
  const CellConfig c = make_config(ssm({}));
  EXPECT_EQ(c.words("model.modulation.targets"), (std::vector<std::string>{"q", "k", "v", "out"}));
  // The same targets in words are the same cell.
  EXPECT_EQ(
      cell_id(c),
      cell_id(make_config(ssm({{"model.modulation.targets", ValueList{"q", "k", "v", "out"}}}))));
  EXPECT_EQ(problem(ssm({{"model.ssm.A", "dense"}, {"train.groups.ssm.lr", 1e-4}})), "");
  EXPECT_TRUE(complains({{"model.mixer", "ssm"}}, "model.family"));
  EXPECT_TRUE(complains(ssm({{"model.d_ff", 64}}), "`model.mixer` is `ssm`"));
  EXPECT_TRUE(complains(ssm({{"model.mlp.bias", false}}), "`model.mixer` is `ssm`"));
  EXPECT_TRUE(complains(ssm({{"model.modulation.targets", ValueList{"q", "up"}}}), "names up"));
  EXPECT_TRUE(complains(ssm({{"model.ssm.dt_min", 0.1}, {"model.ssm.discretisation", "none"}}),
                        "model.ssm.discretisation"));
  EXPECT_TRUE(complains(ssm({{"model.hypernet.hidden", 8}}), "model.hypernet.hidden"));
  EXPECT_TRUE(complains(ssm({{"model.ssm.A", "dense"}, {"model.ssm.parameters", "generated"}}),
                        "`model.ssm.parameters: shared`"));
  EXPECT_TRUE(complains({{"model.family", "time_indexed"}, {"model.ssm.state_size", 8}},
                        "`model.mixer` is `mlp`"));
}

TEST(Resolve, TheStepOfAStateSpaceLayerReadsDepthTimeWithoutGates) {
  const auto ungated = [](ValueMap more) {
    more.emplace_back("model.family", "time_indexed");
    more.emplace_back("model.mixer", "ssm");
    more.emplace_back("model.modulation.gate", "constant");
    return more;
  };
  EXPECT_EQ(problem(ungated({{"model.time_features.frequencies", 8},
                             {"model.modulation.hidden", 8},
                             {"model.time.nodes", "left"}})),
            "");
  EXPECT_NE(problem(ungated(
                {{"model.ssm.discretisation", "none"}, {"model.time_features.frequencies", 8}})),
            "");
  EXPECT_TRUE(complains(ungated({{"model.ssm.granularity", "element"}}), "gate"));
}

TEST(Resolve, ThePresetOfTheDefaultsIsTheDefault) {
  EXPECT_EQ(cell_id(make_config({{"model.preset", "gpt"}})), cell_id(CellConfig()));
}

TEST(Resolve, LeavesThatTheCellDoesNotReadAreRefused) {
  EXPECT_TRUE(complains({{"model.rope_base", 500}}, "`model.positions` is `learned`"));
  EXPECT_TRUE(complains({{"model.modulation.hidden", 32}}, "`model.family` is `standard`"));
  EXPECT_TRUE(complains({{"train.groups.modulation.lr", 0.1}}, "`train.groups.trunk.lr`"));
  EXPECT_FALSE(complains({{"model.modulation.hidden", 32}}, "nearest"))
      << "no leaf that is read has such a name";
  EXPECT_TRUE(complains({{"model.residual.init", 0.5}}, "learned or learned_per_layer"));
  EXPECT_TRUE(complains({{"model.temporal_norm.hidden", 8}}, "temporal_layer_norm"));
  EXPECT_TRUE(complains({{"model.init.std", 0.1}, {"model.init.scheme", "xavier"}}, "gpt2"));
  EXPECT_TRUE(complains({{"data.synthetic.lag", 8}}, "synthetic:copy or synthetic:induction"));
  EXPECT_TRUE(complains({{"data.tokenizer", "byte"}, {"data.corpus", "synthetic:copy"}},
                        "`data.tokenizer`"));
  EXPECT_TRUE(complains({{"train.schedule.final_ratio", 0.2}}, "cosine or linear or wsd"));
  EXPECT_TRUE(complains({{"train.early_stop.min_delta", 0.2}}, "early_stop.patience"));
  EXPECT_TRUE(complains({{"train.clip", "none"}, {"train.clip_scope", "group"}}, "train.clip"));
  EXPECT_TRUE(complains({{"train.groups.modulation.lr", 0.1}}, "time_indexed"));
  EXPECT_TRUE(
      complains({{"train.groups.head.lr", 0.1}, {"model.tie_embeddings", true}}, "tie_embeddings"));
  EXPECT_TRUE(complains({{"resources.gpus", 1}, {"resources.device", "cpu"}}, "resources.device"));
}

TEST(Resolve, EveryFamilyIsClippedAlike) {
  const auto scope = [](const char* family) {
    return make_config({{"model.family", family}}).word("train.clip_scope");
  };
  for (const char* family : {"standard", "time_indexed", "tong", "hybrid_ode"}) {
    EXPECT_EQ(scope(family), "global") << family;
  }
  EXPECT_EQ(scope("tdt"), "main");
  EXPECT_EQ(scope("mod"), "main");
  EXPECT_EQ(CellConfig().real("train.diverged_above"), 1000);
}

TEST(Resolve, LeavesWithoutEffectAreSaid) {
  const SweepFiles files;
  const Sweep sweep = files.load("name: x\ntrain: {precision: tf32}\nresources: {device: cpu}\n");
  ASSERT_FALSE(sweep.notes.empty());
  EXPECT_NE(sweep.notes.front().find("tf32"), std::string::npos);

  const auto key = [&](const std::string& name) {
    const std::string path = files.write(name, "text").string();
    return files.messages("name: x\ndata: {corpus: file, path: " + path + ", text_key: body}\n");
  };
  EXPECT_NE(key("book.txt").find("`data.text_key` names"), std::string::npos);
  EXPECT_EQ(key("book.jsonl").find("`data.text_key` names"), std::string::npos);
}

TEST(Resolve, TimeLeavesFollowTheirOptions) {
  const auto timed = [](ValueMap more) {
    more.emplace_back("model.family", "time_indexed");
    return more;
  };
  EXPECT_EQ(problem(timed({{"model.time.value", 0.5}, {"model.time.dependence", "constant"}})), "");
  EXPECT_TRUE(complains(timed({{"model.time.value", 0.5}}), "constant"));
  EXPECT_TRUE(complains(timed({{"model.time_features.base", 100}}), "geometric"));
  EXPECT_EQ(problem(timed(
                {{"model.time_features.base", 100}, {"model.time_features.kind", "geometric"}})),
            "");
  EXPECT_TRUE(
      complains(timed({{"model.modulation.gate", "constant"}, {"model.modulation.hidden", 8}}),
                "model.modulation.gate"));
  EXPECT_TRUE(complains(
      timed({{"model.modulation.gate", "constant"}, {"model.time_features.frequencies", 8}}),
      "model.modulation.gate"));
  EXPECT_EQ(problem(timed({{"model.modulation.gate", "constant"},
                           {"model.norm_kind", "temporal_layer_norm"},
                           {"model.time_features.frequencies", 8}})),
            "");
  EXPECT_TRUE(
      complains(timed({{"model.modulation.hidden", 0}, {"model.modulation.activation", "silu"}}),
                "model.modulation.hidden: not 0"));
}

TEST(Resolve, RulesBetweenLeaves) {
  EXPECT_TRUE(complains({{"model.d_model", 64}, {"model.n_heads", 5}}, "`model.n_heads: 5`"));
  EXPECT_TRUE(complains({{"model.d_model", 12}, {"model.positions", "rope"}}, "even width"));
  EXPECT_TRUE(
      complains({{"train.batch_size", 8}, {"train.accumulation", 3}}, "`train.accumulation: 3`"));
  EXPECT_TRUE(complains({{"model.max_seq_len", 64}}, "`data.seq_len: 128`"));
  EXPECT_TRUE(complains({{"eval.final_splits", ValueList{"test"}}}, "give `data.test`"));
  EXPECT_TRUE(
      complains({{"data.split", "published"}, {"eval.splits", ValueList{"dev"}}}, "names dev"));
  EXPECT_TRUE(complains({{"data.corpus", "file"}}, "needs `data.path`"));
  EXPECT_TRUE(complains({{"eval.stride", 129}}, "`data.seq_len: 128`"));
  EXPECT_TRUE(complains({{"model.norm_kind", "temporal_layer_norm"}}, "needs depth-time"));
  EXPECT_TRUE(
      complains({{"model.attention.implementation", "sdpa"}, {"model.dropout.attention", 0.1}},
                "`model.dropout.attention: 0.1`"));
  EXPECT_TRUE(
      complains({{"train.early_stop.patience", 3}, {"eval.every", Value()}}, "early stopping"));
  EXPECT_TRUE(complains({{"checkpoint.keep_best", 1}, {"data.split", "published"}}, "keep_best"));
  EXPECT_TRUE(complains({{"train.schedule.warmup_steps", 2000}}, "`train.steps: 1000`"));
  EXPECT_TRUE(complains({{"train.schedule.kind", "linear"},
                         {"train.schedule.warmup_steps", 500},
                         {"train.schedule.decay_steps", 600}},
                        "(1100)"));
  EXPECT_TRUE(complains({{"data.corpus", "synthetic:markov"},
                         {"data.synthetic.order", 4},
                         {"data.synthetic.vocab_size", 262144}},
                        "262144^4"));
  EXPECT_TRUE(complains({{"model.family", "time_indexed"},
                         {"model.modulation.share_qkv", true},
                         {"model.modulation.targets", ValueList{"q", "up"}}},
                        "`model.modulation.targets`"));
  EXPECT_TRUE(
      complains({{"model.family", "time_indexed"}, {"model.modulation.targets", ValueList{}}},
                "gate: constant"));
}

TEST(CellConfig, ReadsBackFromItsJson) {
  const CellConfig one = make_config({{"model.preset", "published/time_indexed_mlp"},
                                      {"train.lr", 1e-3},
                                      {"seed", 7},
                                      {"eval.every", Value()}});
  const CellConfig two = config_from_json(one.json());

  EXPECT_EQ(one.json(), two.json());
  EXPECT_EQ(cell_id(one), cell_id(two));
  EXPECT_EQ(structure_key(one), structure_key(two));
  EXPECT_EQ(two.integer("model.seed"), 7);
  EXPECT_THROW(config_from_json("{\"model.wings\": 2}"), UserError);
  EXPECT_THROW(config_from_json("[]"), UserError);
}

TEST(CellConfig, WrongTypesAndPathsAreBugs) {
  const CellConfig c;

  EXPECT_THROW(c.at("model.wings"), Error);
  EXPECT_THROW(c.flag("model.d_model"), Error);
  EXPECT_THROW(c.real("model.family"), Error);
  EXPECT_EQ(c.real("model.d_model"), 256.0);
  EXPECT_FALSE(c.is_word("train.clip"));
  EXPECT_TRUE(make_config({{"train.clip", "none"}}).is_word("train.clip"));
}

TEST(CellConfig, WhereTheTextIsGoneTheMessageSaysWhatCanStillBeRead) {
  const std::string said = problem({{"data.corpus", "file"}, {"data.path", "absent.txt"}});
  EXPECT_NE(said.find("no file 'absent.txt'"), std::string::npos) << said;
  EXPECT_NE(said.find("depthgrid results STORE"), std::string::npos) << said;
}

const std::string kWindow(200, '.');  // long enough for one

TEST(CellConfig, AUsersTextIsIdentityByItsBytes) {
  const SweepFiles files;
  const std::string a = files.write("a.txt", "to be or not" + kWindow).string();
  const std::string b = files.write("sub/b.txt", "to be or not" + kWindow).string();
  const std::string c = files.write("c.txt", "to be or what" + kWindow).string();
  const auto id = [](const Value& path) {
    return cell_id(make_config({{"data.corpus", "file"}, {"data.path", path}}));
  };

  EXPECT_EQ(id(a), id(b));
  EXPECT_NE(id(a), id(c));
  EXPECT_NE(id(a), id(ValueList{a, c}));
  const CellConfig config = make_config({{"data.corpus", "file"}, {"data.path", a}});
  EXPECT_TRUE(
      find_key(config.changed(), "data.corpus")->get_if<std::string>()->starts_with("file:"));
  EXPECT_EQ(config.word("data.corpus"), "file");
  EXPECT_EQ(cell_id(config_from_json(config.json())), cell_id(config));
  EXPECT_TRUE(complains({{"data.corpus", "file"}, {"data.path", "absent.txt"}}, "no file"));

  const auto with_valid = [&](const std::string& valid) {
    return cell_id(make_config({{"data.corpus", "file"}, {"data.path", a}, {"data.valid", valid}}));
  };
  EXPECT_NE(with_valid(c), id(a)) << "other losses are shown";
  EXPECT_NE(with_valid(c), id(ValueList{a, c}));
  EXPECT_EQ(with_valid(a), with_valid(b));
  EXPECT_NE(with_valid(a), with_valid(c));
  EXPECT_TRUE(complains({{"data.corpus", "file"}, {"data.path", a}, {"data.valid", "absent.txt"}},
                        "`data.valid`: no file"));
}

TEST(CellConfig, ATokenisedTextIsIdentityTogetherWithItsSideCar) {
  const SweepFiles files;
  const auto id = [&](const std::string& folder, const std::string& side_car) {
    const std::string bin = files.write(folder + "/t.bin", std::string(600, '\1')).string();
    files.write(folder + "/t.json", side_car);
    return cell_id(make_config({{"data.corpus", "file"}, {"data.path", bin}}));
  };
  const std::string two_bytes = R"({"dtype": "uint16", "vocab_size": 512})";

  EXPECT_EQ(id("a", two_bytes), id("b", two_bytes));
  EXPECT_NE(id("a", two_bytes), id("c", R"({"dtype": "uint32", "vocab_size": 512})"))
      << "the same bytes, read as other tokens";
  const std::string lonely = files.write("lonely.bin", std::string(600, '\1')).string();
  EXPECT_TRUE(complains({{"data.corpus", "file"}, {"data.path", lonely}}, "lonely.json"));
}

}  // namespace resolve_test
}  // namespace depthgrid
