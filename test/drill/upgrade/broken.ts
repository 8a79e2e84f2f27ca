/** Upgrades that are broken on purpose. A drill that passes on one of these proves nothing. */

interface Patch {
  /** The path of the file, in `src/`. */
  readonly file: string;
  /** Every occurrence is replaced. */
  readonly from: string;
  readonly to: string;
}

/**
 * What is changed in a copy of this tree; each change is right on its own but wrong while the version before
 * runs.
 */
export interface BrokenUpgrade {
  readonly patches: readonly Patch[];
  /** The statements of one more migration. */
  readonly migration?: string;
  /** Matches the faults of this change; any other fault would be the drill's own. */
  readonly shows: RegExp;
}

export const BROKEN_UPGRADES: Readonly<Record<string, BrokenUpgrade>> = {
  "renamed activity": {
    patches: [
      {
        file: "activities/index.ts",
        from: "stepBatch(input: BatchInput)",
        to: "advanceBatch(input: BatchInput)",
      },
      { file: "activities/index.ts", from: "stepBatch: (input)", to: "advanceBatch: (input)" },
      {
        file: "workflows/proxies.ts",
        from: `Pick<Activities, "stepBatch">`,
        to: `Pick<Activities, "advanceBatch">`,
      },
      {
        file: "workflows/batch-reprocess.ts",
        from: "batch.stepBatch(input)",
        to: "batch.advanceBatch(input)",
      },
    ],
    shows: /an activity that it does not have/,
  },
  // This version fills the column; the version before does not know it.
  "column without a default": {
    patches: [
      {
        file: "db/documents/accept.ts",
        from: "(id, organization_id, space_id, space_num, folder_id,",
        to: "(origin, id, organization_id, space_id, space_num, folder_id,",
      },
      {
        file: "db/documents/accept.ts",
        from: "select $1, $4, $5, run.space_num",
        to: "select 'upload', $1, $4, $5, run.space_num",
      },
      {
        file: "db/transfer/import.ts",
        from: "insert into documents (id,",
        to: "insert into documents (origin, id,",
      },
      {
        file: "db/transfer/import.ts",
        from: "select given.id, $1, given.space_id",
        to: "select 'import', given.id, $1, given.space_id",
      },
    ],
    migration:
      "alter table documents add column origin text not null default 'upload';\n" +
      "alter table documents alter column origin drop default;\n",
    shows: /\b500\b/,
  },
};
