/** Drawn on a 16 × 16 grid with strokes in the text colour. */
const drawings = {
  overview: "M2.5 8.5 8 3l5.5 5.5M4 7.5V13h8V7.5",
  playground: "M5 3.5v9l7.5-4.5z",
  models: "M8 2 13.5 5 8 8 2.5 5zM2.5 8 8 11l5.5-3M2.5 11 8 14l5.5-3",
  keys: "M9.5 6.5a3 3 0 1 1-1-1l5 5v2h-2v-1.5H10V9.5z",
  requests: "M5.5 4.5h8M5.5 8h8M5.5 11.5h8M2.5 4.5h.5M2.5 8h.5M2.5 11.5h.5",
  tasks: "M2.5 4.5 4 6l2-2.5M8.5 5h5M2.5 11 4 12.5 6 10M8.5 11.5h5",
  webhooks: "M2.5 8h6M6 5.5 8.5 8 6 10.5M11 3.5h2.5v9H11",
  usage: "M3 13V8.5M6.5 13V3.5M10 13V6.5M13.5 13v-3",
  billing: "M2 4.5h12v7.5H2zM2 7h12M4.5 10H7",
  settings: "M2.5 5h6M11.5 5h2M10 3.5v3M2.5 11h2M7.5 11h6M6 9.5v3",
  book: "M8 4.5C6.5 3.5 4.5 3 2.5 3v9c2 0 4 .5 5.5 1.5 1.5-1 3.5-1.5 5.5-1.5V3c-2 0-4 .5-5.5 1.5zM8 4.5v9",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  close: "m4 4 8 8M12 4l-8 8",
  chevron: "m6 3.5 4.5 4.5L6 12.5",
  check: "M3 8.5 6.5 12 13 4.5",
  plus: "M8 3v10M3 8h10",
  download: "M8 2.5v7.5M5 7.5 8 10.5l3-3M3 13h10",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2.5v3h-3",
  upload: "M8 10.5V3M5 5.5 8 2.5l3 3M3 13h10",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.5 10.5l3 3",
} as const;

export type IconName = keyof typeof drawings;

/** Decorative: always next to a text that says the same. */
export function Icon({ name, ...rest }: { name: IconName; className?: string }) {
  return <Drawing path={drawings[name]} {...rest} />;
}

/** An icon that few pages have, and bring themselves. */
export function Drawing({ path, className = "size-4" }: { path: string; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={`${className} shrink-0 fill-none stroke-current`}
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={path} />
    </svg>
  );
}
