/** What the service says of a field, or of something within it, such as an entry of its list. */
export function errorUnder(errors: Readonly<Record<string, string>>, field: string): string | undefined {
  if (errors[field] !== undefined) return errors[field];
  return Object.entries(errors).find(([name]) => name.startsWith(`${field}.`))?.[1];
}
