/** Sends requests to a stack as a REST client does. */
import { until } from "../until.ts";
import { answerText } from "./answer-text.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into whatever came
  readonly body: any;
}

/** Sends one request to a path under `/v1`. A body that is not FormData is sent as JSON. */
export async function call(
  url: string,
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const response = await fetch(`${url}/v1${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined
      ? {}
      : { body: isForm ? body : typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answerText(response);
  const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}

export function fileForm(
  content: string | Uint8Array<ArrayBuffer>,
  filename: string,
  fields: Record<string, string>,
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([content]), filename);
  return form;
}

/** Uploads a file, expects 201 and returns the document. */
export async function upload(
  url: string,
  key: string,
  spaceId: string,
  content: string | Uint8Array<ArrayBuffer>,
  filename = "note.md",
): Promise<Answer["body"]> {
  const answer = await call(
    url,
    key,
    "POST",
    "/data/upload",
    fileForm(content, filename, { space_id: spaceId }),
  );
  if (answer.status !== 201)
    throw new Error(`upload answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Waits until the document's run has ended, and returns the document. */
export async function ended(
  url: string,
  key: string,
  documentId: string,
  timeoutMs = 50_000,
): Promise<Answer["body"]> {
  return until(
    `the run of document ${documentId} ends`,
    async () => {
      const { body } = await call(url, key, "GET", `/data/${documentId}`);
      return ["completed", "failed", "cancelled"].includes(body.processing_state?.pipeline_status) && body;
    },
    timeoutMs,
  );
}
