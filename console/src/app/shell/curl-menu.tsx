import { Button, Code, Group, Popover, ScrollArea, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { LoggedRequest } from "../../api/request-log.ts";
import { useMessages } from "../../messages/messages.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { useConsole } from "../context.ts";
import { messages } from "../messages.ts";

/** What the screen asked the service, to be asked by a program too. */
export function CurlMenu(): ReactNode {
  const texts = useMessages(messages).header;
  const { requests } = useConsole();
  const [list, setList] = useState<readonly LoggedRequest[] | null>(null);
  const toggle = (): void => {
    if (list === null) void requests.list().then(setList);
    else setList(null);
  };
  return (
    <Popover
      opened={list !== null}
      onChange={() => setList(null)}
      position="bottom-end"
      width={360}
      trapFocus
      withRoles
    >
      <Popover.Target>
        <Button variant="subtle" size="xs" color="gray" c="inherit" onClick={toggle} visibleFrom="xs">
          curl
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={texts.curl}>
        <Stack gap="xs">
          <Text size="sm">{list?.length === 0 ? texts.curlNone : texts.curlText}</Text>
          <ScrollArea.Autosize mah={320} tabIndex={0}>
            {list?.map(({ method, path, curl }) => (
              <Group key={`${method} ${path}`} justify="space-between" wrap="nowrap" gap="xs" mb={4}>
                <Code style={{ overflowWrap: "anywhere" }}>
                  {method} {path}
                </Code>
                <CopyButton value={curl} />
              </Group>
            ))}
          </ScrollArea.Autosize>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
