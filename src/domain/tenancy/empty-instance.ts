/** What an instance without organizations logs when it starts. */
export const EMPTY_INSTANCE =
  "there is no organization yet: " +
  "holdfast organization create --name NAME --admin-email ADDRESS makes one, with its first key";
