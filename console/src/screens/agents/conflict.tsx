import { Button, Group, Modal, Radio, SimpleGrid, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { type Choices, type Difference, type Fields, type Side, merged } from "./fields.ts";
import { messages } from "./messages.ts";
import { Value, useFieldName } from "./value.tsx";

interface Props {
  readonly differences: readonly Difference[];
  readonly theirs: Fields;
  /** Who saved in between. */
  readonly who: string;
  readonly onSave: (fields: Fields) => void;
  readonly onClose: () => void;
}

/** The changes of two people side by side; who saves last chooses field by field. */
export function Conflict({ differences, theirs, who, onSave, onClose }: Props): ReactNode {
  const texts = useMessages(messages).conflict;
  const [choices, setChoices] = useState<Choices>({});
  // What one person changed alone holds unless it is chosen otherwise.
  const isDecided = differences.every(({ field, by }) => by !== "both" || choices[field] !== undefined);
  return (
    <Modal opened onClose={onClose} title={texts.title} size="xl">
      <Stack>
        <Text>{texts.text(who)}</Text>
        {differences.map((difference) => (
          <Choice
            key={difference.field}
            difference={difference}
            who={who}
            chosen={choices[difference.field] ?? (difference.by === "both" ? null : difference.by)}
            onChoose={(side) => setChoices({ ...choices, [difference.field]: side })}
          />
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button disabled={!isDecided} onClick={() => onSave(merged(differences, theirs, choices))}>
            {texts.save}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface ChoiceProps {
  readonly difference: Difference;
  readonly who: string;
  readonly chosen: Side | null;
  readonly onChoose: (side: Side) => void;
}

function Choice({ difference: { field, by, ...values }, who, chosen, onChoose }: ChoiceProps): ReactNode {
  const texts = useMessages(messages).conflict;
  const name = useFieldName()(field);
  return (
    <Radio.Group
      aria-label={texts.choose(name)}
      label={by === "both" ? `${name} (${texts.both})` : name}
      value={chosen}
      onChange={(side) => onChoose(side as Side)}
    >
      <SimpleGrid cols={{ base: 1, sm: 3 }} mt={4}>
        <div>
          <Text size="sm" c="dimmed">
            {texts.before}
          </Text>
          <Value value={values.before} />
        </div>
        <div>
          <Radio value="mine" label={texts.mine} />
          <Value value={values.mine} />
        </div>
        <div>
          <Radio value="theirs" label={texts.theirs(who)} />
          <Value value={values.theirs} />
        </div>
      </SimpleGrid>
    </Radio.Group>
  );
}
