import { Code, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { FIELDS, type Field } from "./fields.ts";
import { messages } from "./messages.ts";

/** The name of a field as the form has it; fields of another version by the API's name. */
export function useFieldName(): (field: string) => string {
  const texts = useMessages(messages).fields;
  return (field) => (isField(field) ? texts[field] : field);
}

const isField = (field: string): field is Field => FIELDS.some((each) => each === field);

/** A value of any field, to be read beside another one. */
export function Value({ value }: { readonly value: unknown }): ReactNode {
  const texts = useMessages(messages);
  if (value === null || value === undefined || value === "") return <Text size="sm">{texts.nothing}</Text>;
  if (typeof value === "boolean") return <Text size="sm">{value ? texts.yes : texts.no}</Text>;
  if (typeof value === "object")
    return (
      <Code block mah={240} tabIndex={0} style={{ overflow: "auto" }}>
        {JSON.stringify(value, null, 2)}
      </Code>
    );
  return (
    <Text
      size="sm"
      component="div"
      mah={240}
      tabIndex={0}
      style={{ whiteSpace: "pre-wrap", overflow: "auto" }}
    >
      <Bidi>{typeof value === "string" ? value : JSON.stringify(value)}</Bidi>
    </Text>
  );
}
