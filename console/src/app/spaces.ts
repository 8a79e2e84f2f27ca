import type { Holdfast, Schemas } from "@holdfast/client";
import { queryOptions } from "@tanstack/react-query";
import { keyOf } from "../api/keys.ts";

/** As many as a person can look through; the palette finds the others by their name. */
const SHOWN_SPACES = 500;

/** The spaces that the person reaches, the private one first, then by name. */
export const spacesQuery = (holdfast: Holdfast) =>
  queryOptions({
    queryKey: keyOf("spaces", "all"),
    queryFn: async () => {
      const spaces: Schemas["Space"][] = [];
      for await (const space of holdfast.spaces({ orderBy: ["name"] })) {
        spaces.push(space);
        if (spaces.length === SHOWN_SPACES) break;
      }
      return spaces.toSorted((a, b) => Number(b.is_private) - Number(a.is_private));
    },
  });
