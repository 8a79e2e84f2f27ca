import { expect, test } from "vitest";
import { createOpenTurns } from "../../../../src/api/turns/bookkeeping/open-turns.ts";
import type { Turn } from "../../../../src/api/turns/turn.ts";

function makeTurn(id: string): { turn: Turn; asked: number[] } {
  const asked: number[] = [];
  const turn = {
    row: { id },
    result: new Promise(() => undefined),
    async step(no: number) {
      asked.push(no);
      return { type: "ended", status: "completed" };
    },
  } as unknown as Turn;
  return { turn, asked };
}

test("a step repeated after the turn's end gets the same answer, without a model call", async () => {
  const openTurns = createOpenTurns(() => undefined);
  const { turn, asked } = makeTurn("one");
  openTurns.add(turn);
  const ended = { type: "ended", status: "completed" };
  expect(await openTurns.step("one", 1, [])).toEqual(ended);
  expect(await openTurns.step("one", 1, [])).toEqual(ended);
  expect(asked).toEqual([1]);
  expect(openTurns.counts()).toEqual({ open: 0, ended: 0 });
});

test("the answers of a bounded number of ended turns are kept", async () => {
  const openTurns = createOpenTurns(() => undefined);
  for (let index = 0; index <= 1_000; index += 1) {
    openTurns.add(makeTurn(`turn ${index}`).turn);
    await openTurns.step(`turn ${index}`, 1, []);
  }
  expect(await openTurns.step("turn 0", 1, [])).toEqual({ type: "unknown" });
  expect(await openTurns.step("turn 1000", 1, [])).toMatchObject({ type: "ended" });
});
