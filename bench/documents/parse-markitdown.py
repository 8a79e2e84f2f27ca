"""Converts the files named on standard input, one a line, and answers each with `seconds characters` or `error`."""
import sys
import time

from markitdown import MarkItDown

converter = MarkItDown()
for line in sys.stdin:
    path = line.rstrip("\n")
    started = time.perf_counter()
    try:
        text = converter.convert(path).text_content
        print(f"{time.perf_counter() - started:.6f} {len(text)}", flush=True)
    except Exception:
        print("error", flush=True)
