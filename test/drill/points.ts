/** The steps of the crash matrix: named places between two lines of the code, where a process can be made to die or to wait. */

export interface Point {
  readonly name: string;
  /** The process that passes it. */
  readonly process: "api" | "worker";
  /** Below `src/`. */
  readonly module: string;
  /** A text that stands exactly once in the module; the point lies behind it. */
  readonly after: string;
  /** What makes a process pass it. */
  readonly under: "uploads" | "deletion";
}

export const POINTS: readonly Point[] = [
  {
    name: "upload: object stored, nothing accepted",
    process: "api",
    module: "api/routes/uploads.ts",
    after: "const upload = await receiveFile(deps, principal, request);",
    under: "uploads",
  },
  {
    name: "upload: accepted, nothing dispatched",
    process: "api",
    module: "dispatch/dispatcher.ts",
    after: "const dispatch = async (organization: Organization, priority: Priority): Promise<void> => {",
    under: "uploads",
  },
  {
    name: "dispatch: claimed, workflow not started",
    process: "api",
    module: "dispatch/dispatcher.ts",
    after: "const start = async (claim: Claim): Promise<void> => {",
    under: "uploads",
  },
  {
    name: "dispatch: workflow started, claim not marked",
    process: "api",
    module: "dispatch/dispatcher.ts",
    after: "const state = await startPipeline(client, claim);",
    under: "uploads",
  },
  {
    name: "prepare: members in hand",
    process: "worker",
    module: "activities/prepare-documents.ts",
    after: "const secret = await deps.contentSecret(input.organization.id);",
    under: "uploads",
  },
  { name: "prepare: chunked, nothing written", process: "worker", module: "activities/prepare-documents.ts", after: "signal.throwIfAborted();", under: "uploads" },
  { name: "embed: members in hand", process: "worker", module: "activities/embed-and-publish.ts", after: "const { name, dimensions } = deps.embedding;", under: "uploads" },
  { name: "embed: provider answered, nothing kept", process: "worker", module: "activities/embed-and-publish.ts", after: '"passage", work.signal);', under: "uploads" },
  {
    name: "embed: kept, nothing published",
    process: "worker",
    module: "activities/embed-and-publish.ts",
    after: "const embedded = await embedMembers(deps, input, attempt, modelNum);",
    under: "uploads",
  },
  {
    name: "publish: entries written, not committed",
    process: "worker",
    module: "activities/publish.ts",
    after: "await writeEntries(sql, work, spaceNum, indexed.filter((chunk) => nums.has(chunk.runNum)));",
    under: "uploads",
  },
  {
    name: "publish: committed, workflow not told",
    process: "worker",
    module: "activities/embed-and-publish.ts",
    after: "await publishMembers(deps, { input, attempt, modelNum }, embedded);",
    under: "uploads",
  },
  { name: "delete: objects gone, rows there", process: "worker", module: "activities/deletion.ts", after: "await deps.storage.delete(name);\n", under: "deletion" },
  { name: "delete: rows gone, deletion open", process: "worker", module: "activities/deletion.ts", after: "await deleteContainers(sql, deletion);", under: "deletion" },
];

/** Builds that are broken on purpose: a drill that passes on one of them proves nothing. */
export const BROKEN: Readonly<Record<string, { readonly module: string; readonly from: string; readonly to: string }>> = {
  "no fence": {
    module: "db/publish.ts",
    from: "and r.claim_id = $1 and r.attempt_id = $2 and r.status = 'embedding' and r.chunked",
    to: "and ($1::uuid is not null or $2::uuid is not null)",
  },
  "no claim row": {
    module: "db/claims.ts",
    from: "update pipeline_runs set claim_id = $1 where id = any($4::uuid[])",
    to: "update pipeline_runs set claim_id = $1 where id = any($4::uuid[]) and false",
  },
  "publish without the lock": { module: "db/publish.ts", from: "order by d.id for update of d", to: "order by d.id" },
};
