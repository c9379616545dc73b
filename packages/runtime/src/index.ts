export { type Ground, layGround, leaveGround, type Obstacle } from './ground.ts';
export { broker } from './models.ts';
