import { afterAll, beforeAll, expect, it } from "vitest";
import { type ChatHarness, startChat } from "../../support/stack/chat-harness.ts";
import { until } from "../../support/until.ts";

let chat: ChatHarness;

beforeAll(async () => {
  chat = await startChat({ isElsewhere: true });
});
afterAll(() => chat.close());

it("a turn whose workflow runs in another process, where tools fail, uses the queues", async () => {
  const agent = await chat.addAgent({ tool_attachments: [{ tool_id: "calculator", config: null }] });
  chat.provider.reply(
    { toolCalls: [{ id: "a", name: "calculator", arguments: JSON.stringify({ expression: "6 * 7" }) }] },
    { pieces: ["It is 42."] },
  );
  const response = await chat.chat({ model: agent, messages: [{ role: "user", content: "go" }] });
  const body: any = await response.json();
  expect(body.choices[0].message.content).toBe("It is 42.");
  const asked = chat.provider.requests.filter((request) => request.route === "chat");
  expect(asked).toHaveLength(2);
  expect(asked[1]!.body["messages"].at(-1).content).toBe("6 * 7 = 42");
  const workflow = chat.client.workflow.getHandle(
    `chat-turn/${chat.organization.id}/${body.id.replace("chatcmpl-", "")}`,
  );
  await until("its workflow has ended", async () => (await workflow.describe()).status.name === "COMPLETED");
  const { events = [] } = await workflow.fetchHistory();
  const scheduled = events!.flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
  expect(scheduled).toEqual(["runTool", "callModel"]);
});
