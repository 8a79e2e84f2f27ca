/** The API document as pages: one for each tag, with every operation, field, bound, error and an example. */
import type { MadePage } from "../stage.ts";
import {
  type Answer,
  type ApiDocument,
  type MediaType,
  type Operation,
  type Parameter,
  resolve,
} from "./document.ts";
import { exampleOf } from "./examples.ts";
import { fieldTable, meaning, table, typeText } from "./fields.ts";

export type { ApiDocument } from "./document.ts";

interface Located {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const slug = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
/** Operation ids are unique in the document: `documents.upload`. */
const anchor = (operation: Operation): string => slug(operation.operationId.replaceAll("_", "-"));

/** @returns the overview first */
export function referencePages(api: ApiDocument): MadePage[] {
  const operations = locate(api.paths);
  const tagged = api.tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const pages = tagged.map(({ name, description, operations: own }) => ({
    path: `reference/${slug(name)}.md`,
    title: name,
    text: [
      `# ${name}`,
      ...(description === undefined ? [] : [description]),
      ...own.map((one) => operationText(api, one)),
    ].join("\n\n"),
  }));
  return [overview(api, tagged), ...pages];
}

function locate(paths: ApiDocument["paths"]): Located[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function overview(
  api: ApiDocument,
  tagged: ReadonlyArray<{ readonly name: string; readonly operations: readonly Located[] }>,
): MadePage {
  const lists = tagged.map(({ name, operations }) => {
    const rows = operations.map(({ method, path, operation }) => [
      `[\`${operation.operationId}\`](/reference/${slug(name)}#${anchor(operation)})`,
      `\`${method} ${path}\``,
      operation.summary,
    ]);
    return `## [${name}](/reference/${slug(name)})\n\n${table(["call", "request", "what it does"], rows)}`;
  });
  const text = [
    "# Reference",
    `${api.info.description ?? ""} The same as a document for generators: [openapi.json](/openapi.json).`,
    "Names such as `documents.upload` are the operation ids, of which clients make their calls.",
    ...lists,
  ];
  return { path: "reference.md", title: "All operations", text: text.join("\n\n"), look: { outline: 2 } };
}

function operationText(api: ApiDocument, { method, path, operation }: Located): string {
  const { summary, description, parameters = [], requestBody } = operation;
  const answers = Object.entries(operation.responses).map(
    ([status, answer]) => [status, resolve(api, answer)] as const,
  );
  const parts = [
    `## ${operation.operationId} {#${anchor(operation)}}`,
    `**${summary}**`,
    `\`\`\`http\n${method} ${path}\n\`\`\``,
    description ?? "",
    parameterText(api, parameters),
    ...Object.entries(requestBody?.content ?? {}).map(([type, media]) =>
      bodyText(api, { type, media, heading: "Body", isRequest: true }),
    ),
    ...answers
      .filter(([status]) => status < "400")
      .flatMap(([status, answer]) => answerText(api, status, answer)),
    errorText(answers.filter(([status]) => status >= "400")),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function parameterText(api: ApiDocument, parameters: readonly Parameter[]): string {
  const rows = parameters.map((parameter) => {
    const { name, in: where, required, description, schema = {} } = resolve(api, parameter);
    return [
      `\`${name}\``,
      where,
      typeText(api, schema),
      required === true ? "yes" : "",
      meaning(api, { ...resolve(api, schema), ...(description === undefined ? {} : { description }) }),
    ];
  });
  if (rows.length === 0) return "";
  return `### Parameters\n\n${table(["name", "in", "type", "needed", "meaning"], rows)}`;
}

interface Body {
  readonly type: string;
  readonly media: MediaType;
  readonly heading: string;
  readonly isRequest: boolean;
}

function bodyText(api: ApiDocument, { type, media, heading, isRequest }: Body): string {
  const example = type === "application/json" ? exampleOf(api, media, isRequest) : undefined;
  const fields = media.schema === undefined ? "" : fieldTable(api, media.schema, isRequest);
  return [
    `### ${heading}: \`${type}\``,
    resolve(api, media.schema ?? {}).description ?? "",
    fields,
    example === undefined ? "" : `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function answerText(api: ApiDocument, status: string, answer: Answer): string[] {
  const headers = Object.entries(answer.headers ?? {}).map(([name, header]) => [
    `\`${name}\``,
    resolve(api, header).description ?? "",
  ]);
  const contents = Object.entries(answer.content ?? {}).map(([type, media]) =>
    bodyText(api, { type, media, heading: `Answer ${status}`, isRequest: false }),
  );
  return [
    ...(contents.length === 0 ? [`### Answer ${status}\n\n${answer.description}.`] : contents),
    headers.length === 0 ? "" : table(["header", "meaning"], headers),
  ];
}

function errorText(errors: ReadonlyArray<readonly [status: string, Answer]>): string {
  const rows = errors.map(([status, { description }]) => [status, description]);
  if (rows.length === 0) return "";
  return `### Errors\n\n${table(["status", "when"], rows)}\n\nThe codes are on [their pages](/errors#all-codes).`;
}
