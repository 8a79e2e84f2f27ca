import { expect, test } from "vitest";
import { shareWork } from "../../../src/process/concurrency/share-work.ts";

/** Work that goes on until it is ended or given up. */
function begin(lingerMs: number) {
  const ended = Promise.withResolvers<string>();
  const shared = shareWork({
    lingerMs: () => lingerMs,
    work: (givenUp) => {
      givenUp.addEventListener("abort", () => ended.reject(givenUp.reason));
      return ended.promise;
    },
  });
  shared.ended.catch(() => undefined);
  return { shared, end: () => ended.resolve("made") };
}

test("is given up when the last who waits has left, not before", async () => {
  const { shared } = begin(0);
  const [one, other] = [new AbortController(), new AbortController()];
  const waits = [shared.join(one.signal), shared.join(other.signal)];
  one.abort();
  await expect(waits[0]).rejects.toMatchObject({ name: "AbortError" });
  expect(shared.isGivenUp).toBe(false);
  other.abort();
  await expect(waits[1]).rejects.toMatchObject({ name: "AbortError" });
  expect(shared.isGivenUp).toBe(true);
  await expect(shared.ended).rejects.toMatchObject({ name: "AbortError" });
});

test("goes on for whoever joins while it lingers", async () => {
  const { shared, end } = begin(60_000);
  const leaving = new AbortController();
  const left = shared.join(leaving.signal);
  leaving.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  const joined = shared.join(new AbortController().signal);
  end();
  expect(await joined).toBe("made");
  expect(shared.isGivenUp).toBe(false);
});

test("is given up after it has lingered for nobody", async () => {
  const { shared } = begin(1);
  const leaving = new AbortController();
  const left = shared.join(leaving.signal);
  leaving.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  await expect(shared.ended).rejects.toMatchObject({ name: "AbortError" });
  expect(shared.isGivenUp).toBe(true);
});
