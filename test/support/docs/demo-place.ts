/** A place for snippets on the shared stack, where one's own tenants are those of the demo. */
import { openAsBlob } from "node:fs";
import { join } from "node:path";
import { call } from "../clients/client.ts";
import type { SharedStack } from "../stack/shared-stack.ts";
import { SPACES, AGENTS, type Tenants } from "../tenants/tenants.ts";
import { until } from "../until.ts";
import type { Place } from "./run-snippets.ts";

/** What the demo's agent answers, and the guide shows. */
const PIECES = [
  "“Change the gearbox oil every 18 months ",
  "or 9,000 hours of operation, whichever comes first.”",
  " [1]",
];

interface Demo {
  readonly stack: SharedStack;
  readonly tenants: Tenants;
}

/** Also lets the provider give the demo's answer from now on. */
export async function demoPlace({ stack, tenants }: Demo): Promise<Place> {
  stack.provider.replyAlways({ pieces: PIECES });
  return {
    instead: {
      "http://127.0.0.1:8080": stack.url,
      [SPACES.research]: tenants.spaces.research,
      [AGENTS.analyst]: tenants.agents.analyst,
    },
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      HOLDFAST_KEY: tenants.keys.owner,
      HOLDFAST_TOKEN: await stack.issuer.token(tenants.subject("ada")),
    },
  };
}

const MANUAL = join(import.meta.dirname, "../../../demo/turbine-manual.pdf");

/** Uploads the manual that the demo's answer cites, and waits until it can be searched. */
export async function indexManual({ stack, tenants }: Demo): Promise<void> {
  const form = new FormData();
  form.set("space_id", tenants.spaces.research);
  form.set("file", await openAsBlob(MANUAL), "turbine-manual.pdf");
  const { body } = await call(stack.url, tenants.keys.owner, "POST", "/data/upload", form);
  await until("the manual is searchable", async () => {
    const path = `/data/${body.id}?wait=60`;
    const { body: document } = await call(stack.url, tenants.keys.owner, "GET", path);
    return document.processing_state.pipeline_status === "completed";
  });
}
