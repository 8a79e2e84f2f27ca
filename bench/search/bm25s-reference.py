"""Ranks whole texts by bm25s with its own tokens and Snowball's stems: texts come as JSON on standard input, the hundred best of each query go out."""
import json
import sys
import unicodedata

import bm25s
import Stemmer

given = json.load(sys.stdin)
# Python's \w has no combining marks, without which words of Hindi and Thai fall into letters.
marks = "".join(chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)).startswith("M"))
stemmer = Stemmer.Stemmer(given["stemmer"]) if given["stemmer"] in Stemmer.algorithms() else None
try:
    stopwords = bm25s.tokenization._infer_stopwords(given["language"])
except ValueError:
    stopwords = []


def tokens_of(texts):
    return bm25s.tokenize(
        texts,
        token_pattern=rf"[\w{marks}][\w{marks}]+",
        stopwords=stopwords,
        stemmer=stemmer,
        return_ids=False,
        show_progress=False,
    )


retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
retriever.index(tokens_of(given["documents"]), show_progress=False)
rankings = []
for tokens in tokens_of(given["queries"]):
    scores = retriever.get_scores(tokens)
    order = (-scores).argsort(kind="stable")[:100]
    rankings.append([int(document) for document in order if scores[document] > 0])
versions = f"bm25s {bm25s.__version__}, PyStemmer {Stemmer.version()}"
json.dump({"versions": versions, "is_stemmed": stemmer is not None, "rankings": rankings}, sys.stdout)
