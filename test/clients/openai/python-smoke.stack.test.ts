import { beforeAll, expect, test } from "vitest";
import { scriptedModel } from "../../support/clients/sdk/model.ts";
import { SET_UP_MS, runProgram } from "../../support/clients/sdk/python.ts";
import { onSharedStack } from "../../support/stack/shared-stack.ts";
import { writeFileSync } from "node:fs";

const { stack, tenants } = onSharedStack();
beforeAll(() => stack.provider.replyAlways(scriptedModel));
const given = () => ({
  base_url: `${stack.url}/v1`,
  mcp_url: `${stack.url}/mcp`,
  key: tenants.keys.owner,
  other_key: tenants.keys.rival,
  scoped_key: tenants.keys.scoped,
  viewer_key: tenants.keys.viewer,
  reading_key: tenants.keys.viewer,
  space: tenants.spaces.research,
  agent: tenants.agents.public,
  chat_model: "scripted-chat",
  embedding_model: "scripted-embedding",
  store: "vs_x",
  name: "heron.md",
});
const programs = (process.env["SMOKE"] ?? "ask_responses.py").split(",");
test.each(programs)(
  "%s",
  async (program) => {
    const t = Date.now();
    const [file, before] = program.split("+");
    const steps = await runProgram({
      file: file!,
      given: given(),
      before: before === undefined ? [] : [before],
    });
    const out: Record<string, unknown> = {};
    for (const name of steps.names) {
      try {
        out[name] = steps.value(name);
      } catch {
        out[name] = { ERROR: steps.error(name) };
      }
    }
    writeFileSync(`/tmp/i23c/out-${program}.json`, JSON.stringify(out, null, 1));
    console.log(program, Date.now() - t, "ms");
    expect(1).toBe(1);
  },
  SET_UP_MS,
);
