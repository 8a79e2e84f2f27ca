"""Ranks documents by bm25s, Lucene's variant: terms come as JSON on standard input, the ten best of each query go out, ties by document."""
import json
import sys

import bm25s
import numpy

given = json.load(sys.stdin)
retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
retriever.index(given["documents"], show_progress=False)
rankings = []
for terms in given["queries"]:
    scores = retriever.get_scores(terms)
    # Sums of floats in another order differ in the last digits; documents that are the same to twelve digits are equally good.
    order = numpy.lexsort((numpy.arange(len(scores)), -numpy.round(scores, 12)))[:10]
    rankings.append([[int(document), float(scores[document])] for document in order if scores[document] > 0])
json.dump({"version": bm25s.__version__, "rankings": rankings}, sys.stdout)
