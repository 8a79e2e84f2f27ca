import { Group, Kbd, Modal, Stack, Text, Title } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { type Shortcut, useShortcutList } from "../../parts/shortcuts.tsx";
import { messages } from "../messages.ts";

/** The keys that work now. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const texts = useMessages(messages).help;
  const all = useShortcutList()();
  return (
    <Modal opened onClose={onClose} title={texts.title}>
      <Keys title={texts.here} shortcuts={all.filter(({ isGlobal }) => isGlobal !== true)} />
      <Keys title={texts.everywhere} shortcuts={all.filter(({ isGlobal }) => isGlobal === true)} />
    </Modal>
  );
}

function Keys({
  title,
  shortcuts,
}: {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}): ReactNode {
  const { andThen } = useMessages(messages).help;
  if (shortcuts.length === 0) return null;
  return (
    <Stack gap={6} mb="md">
      <Title order={3} size="h6">
        {title}
      </Title>
      {shortcuts.map(({ keys, label }) => (
        <Group key={keys} justify="space-between">
          <Text size="sm">{label}</Text>
          <Group gap={4}>
            {keys.split(" ").map((key, index) => (
              <Fragment key={key}>
                {index > 0 && <Text size="xs">{andThen}</Text>}
                <Kbd>{key.replace("mod+", "Ctrl ")}</Kbd>
              </Fragment>
            ))}
          </Group>
        </Group>
      ))}
    </Stack>
  );
}
