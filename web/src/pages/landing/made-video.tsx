import { useEffect, useRef } from "react";

type MadeVideoProps = {
  video: { src: string; poster: string };
  name: string;
  className: string;
};

/** Plays muted while visible, after the page has loaded. Respects reduced motion: then nothing loads until played. */
export function MadeVideo({ video, name, className }: MadeVideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const player = element.current;
    if (player === null || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting !== true) player.pause();
        // The browser may block autoplay; the poster and the controls stay.
        else void player.play().catch(() => {});
      },
      { threshold: 0.6 },
    );
    const start = () => observer.observe(player);
    if (document.readyState === "complete") start();
    else window.addEventListener("load", start, { once: true });
    return () => {
      window.removeEventListener("load", start);
      observer.disconnect();
    };
  }, []);
  return (
    <video
      ref={element}
      src={video.src}
      poster={video.poster}
      aria-label={name}
      className={className}
      muted
      loop
      controls
      playsInline
      preload="none"
    />
  );
}
