type ExactFigureProps = {
  short: string;
  exact: string;
  /** At the right edge of its container: the tooltip grows to the left. */
  isAtRight?: boolean;
};

/** A short figure with a tooltip that shows all digits on hover or focus. Screen readers read both. */
export function ExactFigure({ short, exact, isAtRight = false }: ExactFigureProps) {
  return (
    <span className="group relative inline-block">
      <button
        type="button"
        aria-label={`${short}, exactly ${exact}`}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        className="cursor-help rounded-sm underline decoration-line-strong decoration-dotted decoration-1 underline-offset-[0.25em]"
      >
        {short}
      </button>
      <span
        aria-hidden="true"
        className={`absolute top-full ${isAtRight ? "right-0" : "left-0"} z-20 mt-1 hidden animate-appear rounded-sm bg-ink px-2 py-1 text-xs font-medium tracking-normal whitespace-nowrap text-canvas shadow-float group-focus-within:block group-hover:block`}
      >
        {exact}
      </span>
    </span>
  );
}
