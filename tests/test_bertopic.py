"""linkwise in the cluster slot of BERTopic, and merges of topics as constraints.

pip install --no-deps bertopic, then hdbscan, pandas, plotly, pyyaml and tqdm: no model is loaded.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from linkwise import (
    CCSKL,
    Constraints,
    COPKMeans,
    LinkClustering,
    WithConstraints,
    sample_pairs,
)

bertopic = pytest.importorskip("bertopic")
from bertopic.backend import BaseEmbedder  # noqa: E402
from bertopic.dimensionality import BaseDimensionalityReduction  # noqa: E402

# of BERTopic itself, with an older pandas
pytestmark = pytest.mark.filterwarnings("ignore:\\s*A value is trying to be set on a copy")

SUBJECTS = ("sport", "space", "food", "law")


def written_about(subject, rng):
    words = rng.choice([f"{subject}{i}" for i in range(30)], 8)
    common = rng.choice([f"word{i}" for i in range(40)], 8)
    return " ".join([*words, *common])


class Corpus:
    """60 documents about each of four subjects; the embedding is TF-IDF and an SVD."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.y = np.arange(240) % 4
        self.docs = [written_about(SUBJECTS[c], rng) for c in self.y]
        svd = TruncatedSVD(10, random_state=0)
        self.embedding = make_pipeline(TfidfVectorizer(), svd).fit(self.docs)
        self.X = self.embedding.transform(self.docs)
        self.new = [written_about(SUBJECTS[c], rng) for c in (0, 1, 2, 3)]

    def model(self, clusters):
        return bertopic.BERTopic(
            embedding_model=None, umap_model=BaseDimensionalityReduction(), hdbscan_model=clusters
        )

    def fit(self, clusters):
        return self.model(clusters).fit(self.docs, self.X)

    def topics_of(self, model, docs):
        return np.array(model.transform(docs, self.embedding.transform(docs))[0])


@pytest.fixture(scope="module")
def corpus():
    return Corpus()


@pytest.fixture(scope="module")
def links(corpus):
    return sample_pairs(corpus.y, 60, random_state=0)


def follows(topics, y):
    """Tell whether each class is one topic."""
    return len(set(zip(np.asarray(topics).tolist(), y.tolist(), strict=True))) == len(set(y))


def test_topics_keep_the_constraints(corpus, links):
    # subjects 0 and 1 belong together, whatever the words say
    both = Constraints.from_labels(np.where(corpus.y == 1, 0, corpus.y)[:40], pairs="spanning")
    model = corpus.fit(WithConstraints(COPKMeans(3, random_state=0), both))
    assert not both.violated(np.array(model.topics_)).any()
    assert follows(corpus.fit(WithConstraints(CCSKL(4, random_state=0), links)).topics_, corpus.y)


def test_new_documents_get_the_topics_of_their_subject(corpus, links):
    model = corpus.fit(WithConstraints(CCSKL(4, random_state=0), links))
    assert_array_equal(corpus.topics_of(model, corpus.docs), model.topics_)
    assert_array_equal(corpus.topics_of(model, corpus.new), model.topics_[:4])


@pytest.mark.parametrize("change", ["merge", "reduce", "both"])
def test_merged_and_reduced_topics_still_predict(corpus, links, change):
    model = corpus.fit(WithConstraints(CCSKL(4, random_state=0), links))
    old = np.array(model.topics_)
    if change != "reduce":
        model.merge_topics(corpus.docs, [int(old[0]), int(old[1])])
        assert model.topics_[0] == model.topics_[1]
    if change != "merge":
        model.reduce_topics(corpus.docs, nr_topics=2)
        assert len(set(model.topics_)) == 2
    assert_array_equal(corpus.topics_of(model, corpus.docs), model.topics_)
    assert_array_equal(corpus.topics_of(model, corpus.new), model.topics_[:4])
    assert len(model.get_topic_info()) == len(set(model.topics_))


def test_probabilities_follow_the_topics(corpus, links):
    model = corpus.fit(WithConstraints(LinkClustering(4, effort=1, random_state=0), links))
    assert model.probabilities_.shape == (240, 4)
    assert_array_equal(model.probabilities_.argmax(axis=1), model.topics_)
    model.merge_topics(corpus.docs, [0, 3])
    assert model.probabilities_.shape == (240, 3)
    assert_array_equal(model.probabilities_.argmax(axis=1), model.topics_)


def test_a_merge_by_hand_becomes_links(corpus):
    model = corpus.fit(WithConstraints(CCSKL(4, random_state=0)))
    before = list(model.topics_)
    model.merge_topics(corpus.docs, [[0, 2]])
    links = Constraints.from_merge(before, model.topics_, apart=True, random_state=0)
    assert links == Constraints.from_merge(before, merged=[0, 2], apart=True, random_state=0)
    again = corpus.fit(WithConstraints(COPKMeans(3, random_state=0), links))
    assert not links.violated(np.array(again.topics_)).any()
    # a new fit gives the merged topics, without a merge
    assert follows(again.topics_, np.array(model.topics_))


def test_a_saved_model_predicts_the_same(corpus, links, tmp_path):
    model = corpus.fit(WithConstraints(CCSKL(4, random_state=0), links))
    model.save(str(tmp_path / "model"), serialization="pickle")
    again = bertopic.BERTopic.load(str(tmp_path / "model"))
    assert_array_equal(corpus.topics_of(again, corpus.new), corpus.topics_of(model, corpus.new))


def test_rows_left_out_by_zero_shot_topics_are_noticed(corpus, links):
    class Embedder(BaseEmbedder):
        def embed(self, documents, verbose=False):
            return corpus.embedding.transform(documents)

    ids = np.arange(len(corpus.docs))
    slot = WithConstraints(CCSKL(4, random_state=0), links, sample_id=ids)
    model = bertopic.BERTopic(
        embedding_model=Embedder(),
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=slot,
        zeroshot_topic_list=[" ".join(f"sport{i}" for i in range(30))],
        zeroshot_min_similarity=0.5,
    )
    with pytest.raises(ValueError, match="sample_id"):
        model.fit(corpus.docs, corpus.X)
