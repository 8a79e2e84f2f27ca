/**
 * A colour for small text on a ground of the same colour, at least 4.5 to 1 in contrast: on white the darkest
 * shades that Mantine has are not dark enough.
 */
export const strongColor = (color: string): string =>
  `light-dark(color-mix(in srgb, var(--mantine-color-${color}-9), black 25%), var(--mantine-color-${color}-2))`;
