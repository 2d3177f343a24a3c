import type { ComponentChildren, HTMLAttributes } from 'preact';
import './picture-slider.css';

interface SliderProps extends Omit<HTMLAttributes<HTMLDivElement>, 'label' | 'children'> {
  /** What the picture shows. */
  readonly label: string;
  /** The part that is chosen, from `first` to `last`, and what it says. */
  readonly at: number;
  readonly first?: number;
  readonly last: number;
  readonly text: string;
  readonly children: ComponentChildren;
}

/** A picture whose parts are chosen one after the other, with the keys of `sliderKeys`. A table beside it has the same. */
export function PictureSlider({ label, at, first = 0, last, text, children, ...rest }: SliderProps) {
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={first}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={text}
      {...rest}
    >
      {children}
    </div>
  );
}
