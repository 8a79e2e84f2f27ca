/** What an instance without organizations logs when it starts. */
export const EMPTY_INSTANCE =
  "there is no organization yet: " +
  "run holdfast organization create --name NAME --admin-email ADDRESS to create one with its first key";
