import { expect, test } from "vitest";
import { lineSink } from "../../src/process/log-sink.ts";
import { logLinesDropped } from "../../src/telemetry/instruments.ts";

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A file that takes as many bytes as `room` says, or fails as it says. */
function sinkOf(room: (length: number) => number) {
  let text = "";
  const sink = lineSink(1, (_, bytes) => {
    const taken = room(bytes.length);
    text += Buffer.from(bytes.subarray(0, taken)).toString();
    return taken;
  });
  return { sink, text: () => text };
}

async function dropped(): Promise<number> {
  return (await logLinesDropped.get()).values[0]?.value ?? 0;
}

test.each(["ENOSPC", "EIO", "EPIPE"])(
  "a line that cannot be written for %s is dropped and counted, and the next is tried",
  async (code) => {
    const before = await dropped();
    let isFull = true;
    const { sink, text } = sinkOf((length) => {
      if (isFull) throw failure(code);
      return length;
    });
    sink.write("one\n");
    sink.write("two\n");
    isFull = false;
    sink.write("three\n");
    expect(text()).toBe("three\n");
    expect((await dropped()) - before).toBe(2);
  },
);

test("a line that was cut off does not run into the next", () => {
  const rooms = [2, 0, 100];
  const { sink, text } = sinkOf((length) => {
    const room = rooms.shift() ?? 0;
    if (room === 0) throw failure("ENOSPC");
    return Math.min(room, length);
  });
  sink.write("one\n");
  sink.write("two\n");
  expect(text()).toBe("on\ntwo\n");
});

test("a slow reader is waited for", () => {
  let tries = 0;
  const { sink, text } = sinkOf((length) => {
    tries += 1;
    if (tries < 3) throw failure("EAGAIN");
    return Math.min(2, length);
  });
  sink.write("one\n");
  expect(text()).toBe("one\n");
});
