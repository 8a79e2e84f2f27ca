/** Runs statements as somebody who injects SQL would: each is run even if the one before failed. */
import type pg from "pg";

/**
 * Runs them in a connection of their own that is closed afterwards.
 * @returns the last error, and the connection's role after the statements.
 */
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
