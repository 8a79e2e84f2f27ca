/** A response in the background whose API process is killed: another one goes on with it. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../../src/embedded/ports.ts";
import { type TestProcess, startProcess } from "../../../support/stack/processes.ts";
import { onKillableStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onKillableStack({ withoutWorker: true });
let second: TestProcess;
let clients: readonly [OpenAI, OpenAI];

beforeAll(async () => {
  const port = await freePort();
  second = startProcess("src/api/main.ts", { ...stack.env, PORT: String(port) });
  const clientOf = (url: string) =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: tenants.keys.owner, maxRetries: 0 });
  clients = [clientOf(stack.url), clientOf(`http://127.0.0.1:${port}`)];
  for (const client of clients)
    await until("responses are ready", () =>
      client.responses.create({ model: tenants.agents.public, input: "Hi" }).then(
        () => true,
        () => false,
      ),
    );
});
afterAll(async () => {
  await second.kill("SIGTERM");
});

describe("a response whose process is killed", () => {
  it("is finished by another one, behind what was written, without a gap in its events", async () => {
    stack.provider.reply({ pieces: ["Once ", "upon"], after: 1, breakWith: "hang" });
    const plain = clients[0].responses
      .create({ model: "scripted-chat", input: "Wait" })
      .catch((error: unknown) => error);
    await until("the plain one is asked for", () => stack.provider.counts.chat >= 3);
    stack.provider.reply({ pieces: ["Half ", "an"], after: 1, breakWith: "hang" });
    const { id } = await clients[0].responses.create({
      model: tenants.agents.public,
      input: "Tell",
      background: true,
    });
    const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
    const dropped = (async () => {
      for await (const event of await clients[0].responses.retrieve(id, { stream: true })) seen.push(event);
    })().catch(() => undefined);
    await until("the beginning was seen", () =>
      seen.some(({ type }) => type === "response.output_text.delta"),
    );
    stack.provider.replyAlways({ pieces: ["The ", "whole."] });
    await stack.api.kill("SIGKILL");
    await dropped;
    await plain;

    const rest = [];
    const after = seen.at(-1)!.sequence_number;
    const stream = await clients[1].responses.retrieve(id, { stream: true, starting_after: after });
    for await (const event of stream) rest.push(event);
    const numbers = [...seen, ...rest].map(({ sequence_number: number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(rest.at(-1)).toMatchObject({
      type: "response.completed",
      response: {
        status: "completed",
        output: [
          { status: "incomplete", content: [{ text: "Half " }] },
          { status: "completed", content: [{ text: "The whole." }] },
        ],
      },
    });
    expect(await clients[1].responses.retrieve(id)).toMatchObject({ status: "completed" });
  });
});
