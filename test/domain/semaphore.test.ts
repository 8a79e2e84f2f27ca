import { expect, test } from "vitest";
import { createSemaphore } from "../../src/domain/semaphore.ts";

/** Work that ends when the test says so. */
function heldWork(name: string, started: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = (): Promise<string> => {
    started.push(name);
    return promise;
  };
  return { work, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

test("as much work runs as there are permits, and the rest in the order of the calls", async () => {
  const started: string[] = [];
  const works = ["a", "b", "c", "d"].map((name) => heldWork(name, started));
  const run = createSemaphore(2);
  const ended = works.map(({ work }) => run(work));
  expect(started).toEqual(["a", "b"]);

  works[1]!.end();
  expect(await ended[1]).toBe("b");
  expect(started).toEqual(["a", "b", "c"]);

  for (const { end } of works) end();
  expect(await Promise.all(ended)).toEqual(["a", "b", "c", "d"]);
});

test("work that fails gives its permit back, and its caller gets the error", async () => {
  const started: string[] = [];
  const [first, second] = [heldWork("a", started), heldWork("b", started)];
  const run = createSemaphore(1);
  const ended = Promise.allSettled([run(first.work), run(second.work)]);

  first.fail();
  second.end();

  expect(await ended).toMatchObject([
    { status: "rejected", reason: { message: "a" } },
    { status: "fulfilled", value: "b" },
  ]);
});
