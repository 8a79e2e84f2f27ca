/** Whose reads come first, with callers whose rights the test refuses when it likes. */
import { expect, test } from "vitest";
import { createEventReader } from "../../../src/api/events/reader.ts";
import type { Database } from "../../../src/db/pool.ts";

test("who has one stream waits for few of those who have many", async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const read = createEventReader({} as Database);
  const pages = Array.from("aaaaaaaab").map((userId, index) =>
    read(
      {
        userId,
        credentials: `${userId} ${index}`,
        authenticateAgain: () => {
          begun.push(userId);
          return new Promise((_, refuse) => ends.push(() => refuse(new Error("refused"))));
        },
      },
      { after: 0, upTo: 1, filter: {}, limit: 1 },
    ),
  );
  const settled = Promise.allSettled(pages);
  for (let ended = 0; ended < pages.length; ended += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(ended);
    ends[ended]!();
  }
  await settled;

  expect(begun.join("")).toBe("aaaaabaaa");
});
