import { Component, type ComponentChildren, type ComponentType } from 'preact';

/**
 * A component that is drawn again only if its props are no longer the same. Preact has this in its
 * compatibility layer only, which would cost more than everything else here.
 */
export function memo<P extends object>(
  draw: (props: P) => ComponentChildren,
  same: (before: Readonly<P>, after: Readonly<P>) => boolean = shallowlySame,
): ComponentType<P> {
  const Drawn = draw as ComponentType<P>;
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !same(this.props, next);
    }

    render() {
      return <Drawn {...this.props} />;
    }
  };
}

function shallowlySame<P extends object>(before: Readonly<P>, after: Readonly<P>): boolean {
  const names = Object.keys(after) as (keyof P)[];
  return (
    names.length === Object.keys(before).length &&
    names.every((name) => Object.is(before[name], after[name]))
  );
}
