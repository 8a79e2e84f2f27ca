/** Nothing that somebody sent costs more than its size: each subject of each family at n, 2n and 4n characters. */
import { describe, expect, test } from "vitest";
import { CHUNKER_NAMES } from "../../src/chunkers/index.ts";
import { FAMILY_NAMES } from "./families.ts";
import { findingsOf } from "./measure.ts";

test.each(FAMILY_NAMES)("what it costs grows as its input does: %s", async (family) => {
  expect(await findingsOf(family)).toEqual([]);
});
