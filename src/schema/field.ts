/** The usual fields of the contract, each with what it means and an example. */
import { z } from "zod";

export const field = {
  text: (description: string, example: string) => z.string().meta({ description, example }),
  optionalText: (description: string, example: string) =>
    z.string().optional().meta({ description, example }),
  nullableText: (description: string, example: string | null) =>
    z.string().nullable().meta({ description, example }),
  integer: (description: string, example: number) => z.int().meta({ description, example }),
  optionalInteger: (description: string, example: number) =>
    z.int().optional().meta({ description, example }),
  nullableInteger: (description: string, example: number | null) =>
    z.int().nullable().meta({ description, example }),
  flag: (description: string, example: boolean) => z.boolean().meta({ description, example }),
};
