/** Which commit an upgrade drill starts from, and that the broken builds match the code. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BROKEN_UPGRADES } from "./broken.ts";
import { THIS_TREE, findVersion, lastOfAnotherVersion } from "./versions.ts";

describe("the version before", () => {
  const versions: Record<string, string> = { d: "0.2.0", c: "0.2.0", b: "0.1.0", a: "0.1.0" };
  const versionAt = async (commit: string): Promise<string> => versions[commit]!;

  test("is the commit before the one that raised the version, despite later package changes", async () => {
    expect(await lastOfAnotherVersion("0.2.0", ["d", "c", "b", "a"], versionAt)).toBe("c^");
  });

  test("is the last commit where the number is raised in the working tree only", async () => {
    expect(await lastOfAnotherVersion("0.3.0", ["d", "c", "b", "a"], versionAt)).toBe("HEAD");
  });

  test("is not there where the history has one version only", async () => {
    expect(await lastOfAnotherVersion("0.1.0", ["b", "a"], versionAt)).toBeUndefined();
  });

  test("cannot be a commit that the clone lacks", async () => {
    await expect(findVersion("no-such-commit")).rejects.toThrow(
      "There is no commit no-such-commit in this clone.",
    );
  });
});

test.each(Object.entries(BROKEN_UPGRADES))(
  "the upgrade that is broken by a %s fits the code",
  (_name, { patches }) => {
    for (const { file, from } of patches)
      expect(readFileSync(join(THIS_TREE, "src", file), "utf8").split(from)).toHaveLength(2);
  },
);
