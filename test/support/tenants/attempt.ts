/** Statements as somebody who injects them would run them: each where the one before may have failed. */
import type pg from "pg";

/** In a connection of their own, thrown away afterwards. @returns the last error, and who the connection then is. */
export async function attempt(
  pool: pg.Pool,
  statements: readonly string[],
): Promise<{ error: string | undefined; user: string }> {
  const client = await pool.connect();
  try {
    let error: string | undefined;
    for (const statement of statements)
      await client.query(statement).catch((caught: Error) => (error = caught.message));
    const { rows } = await client.query<{ user: string }>(
      "select current_user || '/' || session_user as user",
    );
    return { error, user: rows[0]!.user };
  } finally {
    client.release(true);
  }
}
