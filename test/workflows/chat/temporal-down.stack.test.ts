/** Chat while Temporal is down: new turns are refused at once, and turns under way complete. */
import { expect, test } from "vitest";
import { relayTo } from "../../support/servers/faulty-parts.ts";
import { startChat } from "../../support/stack/chat-harness.ts";
import { until } from "../../support/until.ts";

const user = (content: string) => [{ role: "user", content }];

test("while Temporal is down, new turns get 503, and a turn under way completes", async () => {
  // oxlint-disable-next-line node/no-process-env -- the set-up of the tests hands the server over in it
  const relay = await relayTo(`tcp://${process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"]!}`);
  const other = await startChat({ temporalAddress: `127.0.0.1:${relay.port}` });
  try {
    const plain = await other.addAgent();
    other.provider.reply({ pieces: ["one", "two"], delayMsBetweenPieces: 4_000 });
    const running = await other.chat({ model: plain, messages: user("hi"), stream: true });
    await relay.cut();
    await until(
      "turns are refused",
      async () => (await other.chat({ model: plain, messages: user("hi"), stream: true })).status === 503,
      2_000,
    );
    const startedAt = performance.now();
    const refused = await other.chat({ model: plain, messages: user("hi") });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(performance.now() - startedAt).toBeLessThan(200);
    expect((await running.text()).trimEnd().endsWith("data: [DONE]")).toBe(true);
    await relay.restore();
    await until(
      "turns are taken again",
      async () => (await other.chat({ model: plain, messages: user("hi") })).status === 200,
    );
  } finally {
    await other.close();
    await relay.close();
  }
});
