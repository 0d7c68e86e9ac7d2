import SceneModel
