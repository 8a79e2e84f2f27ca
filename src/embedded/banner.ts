/** The text that a start ends with: the addresses of everything, and commands to paste. */
import { join } from "node:path";
import { DEMO_ADMIN, DEMO_AGENT_ID, DEMO_DOCUMENTS, DEMO_SPACE_ID } from "./demo-ingest.ts";
import { PROJECT_ROOT } from "./processes/node-process.ts";

interface BannerOptions {
  readonly address: string;
  /** The address of the console; with the development issuer a link that holds its secret. */
  readonly console: string;
  readonly temporalUi: string | undefined;
  /** Undefined if tenants come from a provisioning file of the user. */
  readonly demoKey: string | undefined;
  /** True if the development issuer runs. */
  readonly hasIssuer: boolean;
  readonly dataDir: string;
  /** The metrics pages of the API and the worker; empty if they serve none. */
  readonly metrics: readonly string[];
  readonly hasChatModel: boolean;
  readonly seconds: number;
}

const QUESTION = "How often must a flow meter be calibrated when it is used for billing?";

/** Every command works as printed, from any folder. */
export function banner(options: BannerOptions): string {
  const lines = [
    "",
    `Holdfast is up after ${options.seconds.toFixed(1)} s.`,
    "",
    `  console       ${options.console}`,
    `  API           ${options.address}   (documentation: ${options.address}/docs)`,
    ...(options.temporalUi === undefined ? [] : [`  Temporal UI   ${options.temporalUi}`]),
    ...(options.demoKey === undefined ? [] : [`  demo key      ${options.demoKey}`]),
    ...(options.demoKey === undefined || !options.hasIssuer
      ? []
      : [`  access token  ${tokenCommand(options.dataDir)}   (for endpoints that do not accept keys)`]),
    ...(options.metrics.length === 0 ? [] : [`  metrics       ${options.metrics.join("   ")}`]),
    `  data, logs    ${options.dataDir}`,
    ...(options.hasChatModel
      ? []
      : [
          "  chat model    not configured: answers quote the best-matching sentences. " +
            "To use one, set OPENAI_API_KEY and CHAT_MODEL.",
        ]),
    ...(options.demoKey === undefined ? [] : demoCommands(options.address, options.demoKey)),
    "",
    "Ctrl-C stops everything.",
    "",
  ];
  return lines.join("\n");
}

/** `--silent` leaves out npm's own lines, so that the output can be used in another command. */
function tokenCommand(dataDir: string): string {
  const setting = dataDir === join(PROJECT_ROOT, ".data") ? "" : `DATA_DIR=${quote(dataDir)} `;
  return `${setting}npm run --silent holdfast -- token ${DEMO_ADMIN}`;
}

/** Three commands for a shell: upload, search, chat. */
function demoCommands(address: string, key: string): string[] {
  const authorization = `-H ${quote(`Authorization: Bearer ${key}`)}`;
  const json = `-H ${quote("Content-Type: application/json")}`;
  const file = quote(`file=@${join(DEMO_DOCUMENTS, "meridian-4-manual.md")}`);
  const search = { query: QUESTION, space_id: DEMO_SPACE_ID };
  const chat = { model: DEMO_AGENT_ID, messages: [{ role: "user", content: QUESTION }] };
  return [
    "",
    "Upload a document, search, ask an agent:",
    "",
    `curl -sS ${address}/v1/data/upload ${authorization} -F ${file} -F space_id=${DEMO_SPACE_ID}`,
    "",
    `curl -sS ${address}/v1/data/hybrid-search ${authorization} ${json} -d ${quote(JSON.stringify(search))}`,
    "",
    `curl -sS ${address}/v1/chat/completions ${authorization} ${json} -d ${quote(JSON.stringify(chat))}`,
  ];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
