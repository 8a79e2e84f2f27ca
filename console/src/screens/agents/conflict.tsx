import { Button, Group, Modal, Radio, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { messages } from "./messages.ts";
import { type Field, type Values, changesFrom, conflictsOf } from "./values.ts";

interface Props {
  readonly base: Values;
  readonly mine: Values;
  readonly theirs: Values;
  readonly onSave: (values: Values) => void;
  readonly onClose: () => void;
}

type Side = "mine" | "theirs";

/** Shows two people's changes of one agent side by side. What only one of them has changed is kept. */
export function Conflict({ base, mine, theirs, onSave, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const [choices, setChoices] = useState<Partial<Record<Field, Side>>>({});
  const fields = conflictsOf(base, mine, theirs);
  const merged = { ...theirs, ...changesFrom(base, mine) };
  const wanted = Object.fromEntries(
    Object.entries(merged).map(([name, value]) => {
      const field = name as Field;
      return [field, fields.includes(field) && choices[field] === "theirs" ? theirs[field] : value];
    }),
  ) as unknown as Values;
  return (
    <Modal opened onClose={onClose} title={texts.conflict.title} size="lg">
      <Stack>
        <Text>{texts.conflict.text}</Text>
        {fields.map((field) => (
          <Radio.Group
            key={field}
            label={texts.fields[field]}
            value={choices[field] ?? "mine"}
            onChange={(side) => setChoices({ ...choices, [field]: side as Side })}
          >
            <Stack gap={4} mt={4}>
              <Radio value="mine" label={`${texts.conflict.mine}: ${shown(mine[field])}`} />
              <Radio value="theirs" label={`${texts.conflict.theirs}: ${shown(theirs[field])}`} />
            </Stack>
          </Radio.Group>
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button onClick={() => onSave(wanted)}>{texts.conflict.save}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

const SHOWN_CHARACTERS = 400;

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
