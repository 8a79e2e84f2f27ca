/** Whether a busy machine was taken for something else. */
import type { Stack } from "../../test/support/stack/stack.ts";

/** What a busy machine must not read as: every wait but `starved`, and every lost attempt. */
export async function readAsFaults({ database }: Stack): Promise<string[]> {
  const { rows } = await database.db.owner.query<{ outcome: string; code: string | null }>(
    `select distinct attempt ->> 'outcome' as outcome, attempt ->> 'code' as code
     from pipeline_runs run
     cross join jsonb_array_elements(run.attempts) attempt
     where attempt ->> 'outcome' in ('waiting', 'lost')`,
  );
  return rows
    .filter(({ code }) => code !== "starved")
    .map(({ outcome, code }) => `beside the burners an attempt was ${outcome} (${code ?? "no code"})`);
}
