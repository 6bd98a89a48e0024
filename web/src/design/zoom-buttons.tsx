import { Icon, type IconName } from "./icon.tsx";
import type { Zoom } from "./use-zoom.ts";

/** Keyboard and touch equivalent of dragging over the chart. */
export function ZoomButtons({ zoom }: { zoom: Zoom<unknown> }) {
  if (!zoom.isZoomed && !zoom.canZoomIn) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs in a form.
    <div role="group" aria-label="Zoom" className="ml-auto flex shrink-0 items-center text-ink-soft">
      {zoom.isZoomed && (
        <>
          <ZoomButton
            name="Earlier"
            icon="chevron"
            turn="rotate-180"
            isOff={!zoom.canGo.earlier}
            onPress={() => zoom.move(-1)}
          />
          <ZoomButton name="Later" icon="chevron" isOff={!zoom.canGo.later} onPress={() => zoom.move(1)} />
        </>
      )}
      <ZoomButton name="Zoom in" icon="plus" isOff={!zoom.canZoomIn} onPress={zoom.zoomIn} />
      {zoom.isZoomed && (
        <button
          type="button"
          onClick={zoom.reset}
          className="min-h-7 rounded-sm px-2 text-xs font-medium text-accent hover:bg-accent-soft"
        >
          Reset zoom
        </button>
      )}
    </div>
  );
}

type ZoomButtonProps = { name: string; icon: IconName; turn?: string; isOff: boolean; onPress(): void };

/** Stays in place and focusable while disabled. */
function ZoomButton({ name, icon, turn = "", isOff, onPress }: ZoomButtonProps) {
  return (
    <button
      type="button"
      aria-label={name}
      title={name}
      aria-disabled={isOff}
      onClick={() => !isOff && onPress()}
      className="flex size-7 items-center justify-center rounded-sm hover:bg-sunken hover:text-ink aria-disabled:opacity-40"
    >
      <Icon name={icon} className={`size-3.5 ${turn}`} />
    </button>
  );
}
